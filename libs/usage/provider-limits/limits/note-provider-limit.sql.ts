import { command, query } from '#lib/database';

/** After the end of a limit its tasks resume within a tenth of its length, within these bounds. */
const SPREAD = { part: 0.1, minSeconds: 2, maxSeconds: 60 };

/** Reads the model of a run. Index: primary key. $1 workspace, $2 run, $3 agent. */
export const modelOfRun = query<{ model: string | null }>(
  'model_of_run',
  `SELECT model FROM task_runs WHERE workspace_id = $1 AND id = $2 AND agent_id = $3`,
);

/** The maximum number of open limits of a workspace. Concurrent reports can exceed it. */
const MAX_OPEN = 50;
/** The maximum length of the names that a limit covers. Further models get limits of their own. */
const MAX_COVERS = 10_000;

const REPORTED = ['kind', 'until', 'run_id', 'agent_id', 'reported_at'];

/**
 * Notes a limit of a provider. A report only prolongs an open limit. A second report of the same
 * run with a relative time does not. A model of the provider that was not covered is covered from
 * then on. For an ended run, `retryAfterSeconds` counts from its end. Nothing is noted if that time
 * is past, or if too many limits are open.
 *
 * Reports of one workspace take turns: the mark of the workspace locks its row behind each new limit.
 * If they did not lock that row first, two reports could wait for each other.
 *
 * Indexes: workspaces (primary key), provider_limits_is_one. $1 workspace, $2 id, $3 provider, $4
 * model or NULL, $5 pattern of covered names, $6 kind, $7 seconds, $8 run, $9 agent, $10 whether the
 * time is absolute, $11 the refused model, $12 the pattern that covers it alone.
 */
export const noteProviderLimit = command<{ id: string; until: Date }>(
  'note_provider_limit',
  `
WITH turn AS MATERIALIZED (SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE)
INSERT INTO provider_limits AS l
  (workspace_id, id, provider, model, covers, kind, until, over_at, run_id, agent_id)
SELECT $1, $2, $3::text, $4::text, $5, $6, u.until,
  u.until + make_interval(secs => greatest(
    least($7::float8 * ${SPREAD.part}, ${SPREAD.maxSeconds}), ${SPREAD.minSeconds})), $8, $9
FROM turn CROSS JOIN task_runs r
CROSS JOIN LATERAL (
  SELECT CASE WHEN $10::boolean THEN now() ELSE coalesce(r.ended_at, now()) END
    + make_interval(secs => $7::float8)) AS u (until)
WHERE r.workspace_id = $1 AND r.id = $8 AND u.until > now()
  AND (SELECT count(*) FILTER (
      WHERE o.provider <> $3::text OR o.model IS DISTINCT FROM $4::text) FROM provider_limits o
    WHERE o.workspace_id = $1 AND o.over_at > now()) < ${MAX_OPEN}
ON CONFLICT (workspace_id, provider, model) DO UPDATE SET
  covers = CASE WHEN l.over_at <= now() THEN excluded.covers
    WHEN $11::text ~ l.covers OR length(l.covers) > ${MAX_COVERS} THEN l.covers
    ELSE l.covers || '|' || $12::text END,
  since = CASE WHEN l.over_at <= now() THEN excluded.since ELSE l.since END,
  over_at = CASE WHEN ${prolongs('$10')}
    THEN greatest(l.over_at, excluded.over_at) ELSE l.over_at END,
  ${REPORTED.map(
    (name) => `${name} = CASE WHEN ${prolongs('$10')}
    THEN excluded.${name} ELSE l.${name} END`,
  ).join(',\n  ')}
WHERE l.over_at <= now() OR l.run_id = excluded.run_id OR EXISTS (
  SELECT FROM task_runs r
  WHERE r.workspace_id = l.workspace_id AND r.id = excluded.run_id AND r.ended_at IS NULL)
RETURNING l.id, l.until`,
);

function prolongs(isAbsolute: string): string {
  return `(excluded.until > l.until
    AND (${isAbsolute}::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now()))`;
}
