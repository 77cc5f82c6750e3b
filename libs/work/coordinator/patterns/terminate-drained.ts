import { Injectable } from '@nestjs/common';
import { query } from '#lib/database';
import { transitionAgents, type SweepResult } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';

/** A scan of agents: few rows. $1 rows at most, $2 workspace or NULL. */
const drainedAgents = query<{ workspace_id: string; id: string }>(
  'drained_agents',
  `
SELECT workspace_id, id FROM agents
WHERE lifecycle = 'DRAINING' AND live_runs = 0 AND ($2::uuid IS NULL OR workspace_id = $2)
ORDER BY id
LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED`,
);

/** Terminates draining agents that hold no runs any more. */
@Injectable()
export class TerminateDrained implements Reconciler {
  static readonly facts = {
    name: 'terminate_drained',
    counter: 'drainedAgentsTerminated',
    moves: 'draining agents that hold nothing more',
  } as const satisfies ReconcilerFacts;

  async sweep(pass: Pass): Promise<SweepResult> {
    const terminated = await pass.transaction(async (tx) => {
      const drained = await tx.rows(drainedAgents, pass.bounds);
      const transitions = drained.map((agent) => {
        const about = { workspaceId: agent.workspace_id, agentId: agent.id };
        return { ...about, to: 'TERMINATED', reason: 'drained' } as const;
      });
      return transitionAgents(tx, transitions);
    });
    return pass.countMoved(terminated);
  }
}
