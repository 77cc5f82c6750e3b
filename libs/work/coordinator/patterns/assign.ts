import { Injectable } from '@nestjs/common';
import { pausedTypes, spawnWaitSeconds } from '#lib/admission';
import { availableBudgets } from '#lib/budgets';
import {
  hasRoom,
  mayBeHandedOut,
  OFFER,
  SessionAssigner,
  takesType,
  takesWork,
  workspaceHandsOut,
} from '#lib/runs';
import { serves } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';

const OFFERED = OFFER.map((column) => `a.${column}`).join(', ');

/**
 * Milliseconds until a ready task, a gateway with room and a push agent of the workspace come
 * together. The agent's cooldown must be over, and the rates must allow its session. A pause delays
 * its tasks to its end. The kinds of agents that could begin soonest come first, so the others need
 * not be read. $1 seconds after which an unresponsive gateway does not count, $2 sessions that can
 * be spawned in a minute (0: no limit).
 */
const UNTIL_ASSIGNABLE = `(SELECT ceil(k.wait * 1000) FROM (
    SELECT a.workspace_id, ${OFFERED}, ${pausedTypes('a.workspace_id')} AS paused,
      ${availableBudgets('a.workspace_id')} AS budgets,
      greatest(min(coalesce(extract(epoch FROM a.resting_until - now())::float8, 0)), 0,
        ${spawnWaitSeconds('a.workspace_id', '$2')}) AS wait
    FROM agents a
    WHERE a.mode = 'push' AND ${takesWork('a', ['cooldown'])} AND ${hasRoom('a')}
      AND EXISTS (SELECT FROM gateways
        WHERE NOT draining AND last_seen_at > now() - make_interval(secs => $1::float8)
        HAVING sum(capacity - others) > (SELECT coalesce(sum(live_runs), 0) FROM agents
          WHERE mode = 'push'))
    GROUP BY a.workspace_id, ${OFFERED}
    ORDER BY wait) k
  WHERE k.wait < 'infinity' AND ${workspaceHandsOut('k.workspace_id')}
    AND EXISTS (SELECT FROM agent_tasks t JOIN capability_sets c
        ON c.workspace_id = t.workspace_id AND c.key = t.capability_key
      WHERE t.workspace_id = k.workspace_id AND ${serves('k', 'c.capabilities')}
        AND ${takesType('k', 't.task_type')}
        AND ${mayBeHandedOut('t', { workspace: 'k.workspace_id', pausedTypes: 'k.paused', budgets: 'k.budgets' })})
  ORDER BY k.wait LIMIT 1)`;

/**
 * Assigns ready tasks to push agents, as many as the gateways have room for. Their sessions follow.
 */
@Injectable()
export class Assign implements Reconciler {
  static readonly facts = {
    name: 'assign',
    counter: 'tasksAssigned',
    moves: 'ready tasks, given to push agents',
    due: {
      ms: UNTIL_ASSIGNABLE,
      params: [({ gateway }) => gateway.staleSeconds, ({ admission }) => admission.spawnsPerMinute],
      // A task that becomes ready wakes the coordinator.
      mayBeForbidden: true,
    },
    acrossWorkspaces: true,
  } as const satisfies ReconcilerFacts;

  constructor(private readonly sessions: SessionAssigner) {}

  sweep({ fence, limit }: Pass) {
    return this.sessions.sweep(fence, limit);
  }
}
