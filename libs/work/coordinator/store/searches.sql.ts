import { command, lastDrawn, query } from '#lib/database';

/**
 * The positions of the slow searches, and the rows that one round looks at.
 *
 * $1 of a search: rows; $2: workspace or NULL; $3 and $4: entries of the journal, after and up to;
 * $5 to $8: keys (workspace, id), after and up to.
 */
const NAMED = `j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2)`;

export const inKeys = (row: string) => `(${row}.workspace_id, ${row}.id) > ($5::uuid, $6::uuid)
    AND (${row}.workspace_id, ${row}.id) <= ($7::uuid, $8::uuid)`;

/** The tasks of a round. Index: the primary keys of journal and agent_tasks. */
export const SUBJECTS = `subject AS MATERIALIZED (
  SELECT j.workspace_id, j.task_id AS id FROM journal j WHERE ${NAMED} AND j.task_id IS NOT NULL
  UNION
  SELECT k.workspace_id, k.id FROM agent_tasks k WHERE ${inKeys('k')}
)`;

/** The agents of a round. Index: the primary keys of journal and agents. */
export const SUBJECT_AGENTS = `subject AS MATERIALIZED (
  SELECT j.workspace_id, j.agent_id AS id FROM journal j WHERE ${NAMED} AND j.agent_id IS NOT NULL
  UNION
  SELECT k.workspace_id, k.id FROM agents k WHERE ${inKeys('k')}
)`;

/**
 * The agents of a round, and those of ended runs of its tasks. Index: the primary keys of journal and
 * agents, task_runs_task_idx.
 */
export const SUBJECT_AGENTS_BEFORE = `subject AS MATERIALIZED (
  SELECT j.workspace_id, j.agent_id AS id FROM journal j WHERE ${NAMED} AND j.agent_id IS NOT NULL
  UNION
  SELECT r.workspace_id, r.agent_id
  FROM (SELECT DISTINCT j.workspace_id, j.task_id FROM journal j
    WHERE ${NAMED} AND j.task_id IS NOT NULL) n
  CROSS JOIN LATERAL (
    SELECT x.* FROM task_runs x WHERE x.workspace_id = n.workspace_id AND x.task_id = n.task_id
      AND x.ended_at IS NOT NULL OFFSET 0) r
  UNION
  SELECT k.workspace_id, k.id FROM agents k WHERE ${inKeys('k')}
)`;

/** The workspaces of a round that have budgets. Index: the primary keys. */
export const SUBJECT_TREASURIES = `subject AS MATERIALIZED (
  SELECT n.workspace_id
  FROM (SELECT DISTINCT j.workspace_id FROM journal j WHERE ${NAMED}) n
  WHERE EXISTS (SELECT FROM usage_budgets k WHERE k.workspace_id = n.workspace_id)
  UNION
  SELECT k.workspace_id FROM usage_budgets k WHERE ${inKeys('k')}
)`;

/**
 * The row of each subject, by its key and whatever the statistics say. OFFSET 0 keeps the planner
 * from turning the join round.
 */
export const rowOf = (table: string, alias: string) => `CROSS JOIN LATERAL (
  SELECT x.* FROM ${table} x WHERE x.workspace_id = s.workspace_id AND x.id = s.id OFFSET 0) ${alias}`;

/** A horizon: all entries up to `last` exist once no transaction below `xid` is open (ADR 12). */
export interface Horizon {
  last: string;
  xid: string;
}

/** The transaction id is drawn after the sequence was read, as a column after its source. */
export const drawHorizon = command<Horizon>(
  'coordinator_draw_horizon',
  `
WITH s AS MATERIALIZED (SELECT ${lastDrawn('journal_id_seq')} AS last)
SELECT s.last, pg_current_xact_id()::text AS xid FROM s`,
);

/** The oldest transaction that is still open. */
export const readOldestOpen = query<{ xid: string }>(
  'coordinator_read_oldest_open',
  `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xid`,
);

export interface PositionRow {
  journal_id: string | null;
  workspace_id: string;
  task_id: string;
}

/** Index: primary key. $1 search. No row: it has never ended a round. */
export const readPosition = query<PositionRow>(
  'coordinator_read_position',
  `SELECT journal_id, after_workspace_id AS workspace_id, after_task_id AS task_id
  FROM coordinator_searches WHERE name = $1`,
);

/** $1 search, $2 entry of the journal, $3 and $4 key, $5 true if the walk begins anew. */
export const keepPosition = command<unknown>(
  'coordinator_keep_position',
  `
INSERT INTO coordinator_searches AS c
  (name, journal_id, after_workspace_id, after_task_id, rounds)
VALUES ($1, $2, $3, $4, $5::boolean::int)
ON CONFLICT (name) DO UPDATE SET journal_id = excluded.journal_id,
  after_workspace_id = excluded.after_workspace_id, after_task_id = excluded.after_task_id,
  rounds = c.rounds + excluded.rounds`,
);

/**
 * The last of the next tasks by key. No row: fewer are left. Index: primary key of agent_tasks.
 *
 * $1 and $2 key after which they begin, $3 and $4 last key of all, $5 number of tasks.
 */
export const readWindowEnd = query<{ workspace_id: string; id: string }>(
  'coordinator_read_window_end',
  `
SELECT workspace_id, id FROM agent_tasks
WHERE (workspace_id, id) > ($1::uuid, $2::uuid) AND (workspace_id, id) <= ($3::uuid, $4::uuid)
ORDER BY workspace_id, id
OFFSET $5::int - 1 LIMIT 1`,
);
