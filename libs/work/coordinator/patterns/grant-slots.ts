import { Injectable } from '@nestjs/common';
import { command } from '#lib/database';
import { isOpen, logLine, type SweepResult, wakeClaims } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAtOnceIf } from './due.sql.js';

/** Nothing but a slot keeps it from the queue. */
const WAITS = (t: string) =>
  `${t}.waits_for_slot AND ${t}.status = 'PENDING' AND ${t}.unmet_dependencies = 1`;

const OF_KEY = `t.workspace_id = k.workspace_id AND t.concurrency_key = k.concurrency_key AND ${WAITS('t')}`;

/**
 * Gives the free slots of each concurrency key to its waiting tasks: the highest priority first,
 * then the oldest, each within its own limit. Only the leader gives slots, behind the fence, so a
 * key never has more.
 *
 * Indexes: agent_tasks_slot_idx, one look-up for each key; agent_tasks_slot_taken_idx. With 10,000
 * waiting tasks of 100 keys: 7 ms without a free slot, 30 ms with 200. $1 rows at most, $2
 * workspace or NULL.
 */
const grantFreeSlots = command<{ workspace_id: string }>(
  'grant_free_slots',
  `
WITH RECURSIVE keys AS (
  (SELECT t.workspace_id, t.concurrency_key FROM agent_tasks t
   WHERE ${WAITS('t')} AND ($2::uuid IS NULL OR t.workspace_id = $2)
   ORDER BY t.workspace_id, t.concurrency_key LIMIT 1)
  UNION ALL
  SELECT n.workspace_id, n.concurrency_key FROM keys k CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.concurrency_key FROM agent_tasks t
    WHERE ${WAITS('t')} AND ($2::uuid IS NULL OR t.workspace_id = $2)
      AND (t.workspace_id, t.concurrency_key) > (k.workspace_id, k.concurrency_key)
    ORDER BY t.workspace_id, t.concurrency_key LIMIT 1) n
),
chosen AS MATERIALIZED (
  SELECT k.workspace_id, c.id FROM keys k
  CROSS JOIN LATERAL (
    SELECT count(*) AS taken FROM agent_tasks t
    WHERE t.workspace_id = k.workspace_id AND t.concurrency_key = k.concurrency_key
      AND NOT t.waits_for_slot AND ${isOpen('t')}) slots
  CROSS JOIN LATERAL (
    SELECT t.concurrency_limit AS most FROM agent_tasks t WHERE ${OF_KEY}
    ORDER BY t.priority DESC, t.created_at, t.id LIMIT 1) head
  CROSS JOIN LATERAL (
    SELECT t.id, t.concurrency_limit,
      row_number() OVER (ORDER BY t.priority DESC, t.created_at, t.id) AS place
    FROM agent_tasks t WHERE ${OF_KEY}
    ORDER BY t.priority DESC, t.created_at, t.id LIMIT greatest(0, head.most - slots.taken)) c
  WHERE slots.taken + c.place <= c.concurrency_limit
  LIMIT $1
),
locked AS MATERIALIZED (
  SELECT t.workspace_id, t.id FROM agent_tasks t
  JOIN chosen c ON c.workspace_id = t.workspace_id AND c.id = t.id
  WHERE ${WAITS('t')}
  FOR NO KEY UPDATE OF t SKIP LOCKED
),
granted AS (
  UPDATE agent_tasks t SET waits_for_slot = false, unmet_dependencies = 0, ready_at = now()
  FROM locked l WHERE t.workspace_id = l.workspace_id AND t.id = l.id
  RETURNING t.workspace_id, t.id
),
logged AS (
  ${logLine(
    {
      workspace_id: 'workspace_id',
      task_id: 'id',
      event: "'slot_granted'",
      message: "'Its concurrency key has a free slot'",
      actor_kind: "'coordinator'",
    },
    'granted',
  )}
)
SELECT workspace_id FROM granted`,
);

/** Gives free slots of concurrency keys to waiting tasks. */
@Injectable()
export class GrantSlots implements Reconciler {
  static readonly facts = {
    name: 'grant_slots',
    counter: 'slotsGranted',
    moves: 'tasks whose concurrency key has a free slot',
    due: {
      ...dueAtOnceIf(`EXISTS (SELECT FROM agent_tasks t WHERE ${WAITS('t')})`),
      mayBeForbidden: true,
    },
  } as const satisfies ReconcilerFacts;

  constructor(private readonly wakeUps: WakeUps) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const granted = await pass.apply(grantFreeSlots);
    wakeClaims(this.wakeUps, granted);
    return pass.countMoved(granted);
  }
}
