import { command, query } from '#lib/database';
import type { Verdict } from '../domain/change-state.js';
import { COST_COLUMNS, COST_JOINS, type CostRow, MODEL_OF_CHANGE } from '../store/cost.sql.js';
import { SHOWN_COLUMNS, SHOWN_FROM, type ShownChange } from '../store/changes.sql.js';

/** Makes new changes the attempts of a group. Index: primary key. $1 workspace, $2 changes, $3 group. */
export const groupAttempts = command<{ task_id: string }>(
  'group_attempts',
  `
UPDATE changes c SET attempts_id = $3
WHERE c.workspace_id = $1 AND c.task_id = ANY ($2::uuid[])
RETURNING c.task_id`,
);

export interface AttemptRow extends ShownChange, CostRow {
  model: string | null;
  proof_verdict: Verdict | null;
  proof_exit_code: number | null;
  proof_ms: number | null;
}

/**
 * The attempts at a change, itself included, in the order of their creation, each with its last proof
 * and its cost. Indexes: primary key, changes_attempts_idx, change_reviews_change_idx. $1 workspace,
 * $2 change.
 */
export const attemptsAtChange = query<AttemptRow>(
  'attempts_at_change',
  `
SELECT ${SHOWN_COLUMNS}, ${MODEL_OF_CHANGE} AS model, ${COST_COLUMNS},
  proof.verdict AS proof_verdict, proof.exit_code AS proof_exit_code,
  proof.duration_ms AS proof_ms
FROM ${SHOWN_FROM}
${COST_JOINS}
LEFT JOIN LATERAL (
  SELECT v.verdict, v.exit_code, v.duration_ms FROM change_reviews v
  WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id AND v.kind = 'proof'
  ORDER BY v.id DESC LIMIT 1) proof ON true
WHERE c.workspace_id = $1 AND (c.task_id = $2 OR c.attempts_id = (SELECT o.attempts_id FROM changes o
  WHERE o.workspace_id = $1 AND o.task_id = $2))
ORDER BY c.task_id`,
);
