import { command, query } from '#lib/database';

export const OUTCOMES = ['created', 'resumed', 'synced', 'known', 'ignored', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface DeliveryRow {
  id: string;
  delivery_id: string;
  digest: Buffer;
  event: string;
  subject: string | null;
  rule: number | null;
  outcome: Outcome;
  task_id: string | null;
  reason: string | null;
  detail: string | null;
  received_at: Date;
}

const SHOWN = `d.id, d.delivery_id, d.digest, d.event, d.subject, d.rule, d.outcome, d.task_id, d.reason, d.detail,
  d.received_at`;

/**
 * Stores the result of a delivery. A delivery without effect can come again and then have one: its
 * row is replaced. No row means that it had an effect before.
 *
 * Indexes: inbound_hook_deliveries_delivery_key; inbound_hook_deliveries_digest_key and
 * inbound_hook_deliveries_once_key refuse the effect of another delivery. $1 workspace, $2 hook, $3
 * id, $4 the sender's id, $5 digest, $6 whether known by it, $7 event, $8 subject, $9 rule, $10
 * outcome, $11 once, $12 task, $13 reason, $14 detail.
 */
export const keepDelivery = command<DeliveryRow>(
  'inbound_hooks_keep_delivery',
  `
INSERT INTO inbound_hook_deliveries AS d (workspace_id, hook_id, id, delivery_id, digest, known_by_digest, event, subject,
  rule, outcome, once, task_id, reason, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (workspace_id, hook_id, delivery_id) DO UPDATE SET digest = excluded.digest, event = excluded.event,
  subject = excluded.subject, rule = excluded.rule, outcome = excluded.outcome, once = excluded.once,
  task_id = excluded.task_id, reason = excluded.reason, detail = excluded.detail
WHERE d.outcome NOT IN ('created', 'resumed')
RETURNING ${SHOWN}`,
);

/**
 * The same delivery, if it came before, by the sender's id or by its body. Indexes:
 * inbound_hook_deliveries_delivery_key, inbound_hook_deliveries_digest_key. Of 100,000: 0.02 ms. $1
 * workspace, $2 hook, $3 the sender's id, $4 digest, or NULL if it proves nothing.
 */
export const findDelivery = query<DeliveryRow>(
  'inbound_hooks_find_delivery',
  `
SELECT ${SHOWN} FROM inbound_hook_deliveries d
WHERE d.workspace_id = $1 AND d.hook_id = $2 AND d.delivery_id = $3
UNION ALL
SELECT ${SHOWN} FROM inbound_hook_deliveries d
WHERE d.workspace_id = $1 AND d.hook_id = $2 AND d.known_by_digest AND d.digest = $4
LIMIT 1`,
);

/**
 * The latest task of a subject. Index: inbound_hook_deliveries_subject_idx. $1 workspace, $2 hook,
 * $3 subject.
 */
export const taskOfSubject = query<{ task_id: string; once: boolean }>(
  'inbound_hooks_task_of_subject',
  `
SELECT d.task_id, d.once FROM inbound_hook_deliveries d
WHERE d.workspace_id = $1 AND d.hook_id = $2 AND d.subject = $3 AND d.outcome = 'created'
ORDER BY d.id DESC LIMIT 1`,
);

/**
 * Newest first. Index: primary key. 51 of 100,000: 0.1 ms. $1 workspace, $2 hook, $3 last id of the
 * previous page or NULL, $4 maximum number of rows.
 */
export const listInboundDeliveries = query<DeliveryRow>(
  'list_inbound_deliveries',
  `
SELECT ${SHOWN} FROM inbound_hook_deliveries d
WHERE d.workspace_id = $1 AND d.hook_id = $2 AND ($3::uuid IS NULL OR d.id < $3)
ORDER BY d.id DESC LIMIT $4`,
);

/**
 * Removes at most $2 deliveries older than $1 days, except those that link a task to its subject.
 * Index: inbound_hook_deliveries_age_idx. 5,000 of 100,000: 31 ms. So few rows are joined by a full
 * read; more would be looked up.
 */
export const pruneDeliveries = command<{ id: string }>(
  'inbound_hooks_prune_deliveries',
  `
DELETE FROM inbound_hook_deliveries d USING (
  SELECT workspace_id, hook_id, id FROM inbound_hook_deliveries
  WHERE received_at < now() - make_interval(days => $1) AND outcome <> 'created' ORDER BY received_at LIMIT $2) o
WHERE d.workspace_id = o.workspace_id AND d.hook_id = o.hook_id AND d.id = o.id
RETURNING d.id`,
);
