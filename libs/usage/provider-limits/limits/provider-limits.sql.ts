import { command, query } from '#lib/database';
import type { LimitKind } from '../domain/provider-limit.js';
import { SERVER_RULES, TIER_MODELS } from '#lib/models';

/*
 * What waits for a provider. Whether a model is covered, and by which rule a task gets its model, is asked only while the
 * workspace has a limit: otherwise each of these conditions is one look at an index without entries.
 */

const RULES = JSON.stringify(Object.values(SERVER_RULES));
const TIERS = JSON.stringify(TIER_MODELS);

/** After the end of a limit its tasks go on within a tenth of the time that it lasted, within these bounds. */
const SPREAD = { part: 0.1, minSeconds: 2, maxSeconds: 60 };

/** SQL: the limits under which a task waits, a uuid[]. `t` is an alias of agent_tasks. */
export function limitsOfTask(t: string): string {
  return `provider_limits_of_task(${t}.workspace_id, ${t}.id, '${RULES}', '${TIERS}', ${t}.task_type, ${t}.priority,
      ${t}.project_id, ${t}.estimated_complexity, CASE WHEN ${t}.estimate_source <> 'default' THEN ${t}.estimated_tokens END)`;
}

/** SQL: some provider refuses the workspace, or did until a moment ago. Index: primary key. */
export function hasProviderLimits(workspace: string): string {
  return `EXISTS (SELECT FROM provider_limits l WHERE l.workspace_id = ${workspace} AND l.over_at > now())`;
}

/** SQL: no provider refuses the model that a task needs. */
export function isFreeOfProviderLimits(t: string, workspace: string): string {
  return `(NOT ${hasProviderLimits(workspace)} OR ${limitsOfTask(t)} = '{}')`;
}

/** SQL: when the last of the limits ends that hold the own model of an agent; NULL: none does. `a` is an alias of agents. */
export function agentLimitedUntil(a: string): string {
  return `CASE WHEN ${a}.model IS NOT NULL THEN provider_limit_end_of_agent(${a}.workspace_id, ${a}.id, ${a}.model) END`;
}

/** SQL: a provider refuses the own model of an agent. */
export function isAgentLimited(a: string): string {
  return `(${agentLimitedUntil(a)}) IS NOT NULL`;
}

/** A limit that holds. */
export interface LimitRow {
  id: string;
  provider: string;
  model: string | null;
  kind: LimitKind;
  since: Date;
  until: Date;
  run_id: string;
  agent_id: string;
  agent_name: string;
  reported_at: Date;
}

const COLUMNS = `l.id, l.provider, l.model, l.kind, l.since, l.until, l.run_id, l.agent_id, a.name AS agent_name, l.reported_at`;

/** Those that hold, the last to end first. Index: primary key. $1 workspace, $2 limit or NULL. */
export const openProviderLimits = query<LimitRow>(
  'open_provider_limits',
  `
SELECT ${COLUMNS} FROM provider_limits l JOIN agents a ON a.workspace_id = l.workspace_id AND a.id = l.agent_id
WHERE l.workspace_id = $1 AND ($2::uuid IS NULL OR l.id = $2) AND l.until > now()
ORDER BY l.until DESC, l.id`,
);

/** The model that a run was given. Index: primary key. $1 workspace, $2 run, $3 agent. */
export const modelOfRun = query<{ model: string | null }>(
  'model_of_run',
  `SELECT model FROM task_runs WHERE workspace_id = $1 AND id = $2 AND agent_id = $3`,
);

/** Of a workspace; reports at one moment may exceed it by their number. */
const MAX_OPEN = 50;
/** Beyond so many characters a limit covers no further names, which their own limits can still cover. */
const MAX_COVERS = 10_000;

const REPORTED = ['kind', 'until', 'run_id', 'agent_id', 'reported_at'];

/**
 * Notes what a provider refuses. Only a report that prolongs the time changes what is there; the same run's second
 * report with a time of its own reckoning does not. A model of the provider that was not covered is from then on.
 * For an ended run, `retryAfterSeconds` count from its end. Nothing is noted if that is past, or too many limits are open.
 *
 * Index: provider_limits_is_one. $1 workspace, $2 id, $3 provider, $4 model or NULL, $5 what it covers, $6 kind,
 * $7 seconds, $8 run, $9 agent, $10 whether the time is by the clock, $11 the refused model, $12 what covers it alone.
 */
export const noteProviderLimit = command<{ id: string; until: Date }>(
  'note_provider_limit',
  `
INSERT INTO provider_limits AS l (workspace_id, id, provider, model, covers, kind, until, over_at, run_id, agent_id)
SELECT $1, $2, $3::text, $4::text, $5, $6, u.until,
  u.until + make_interval(secs => greatest(least($7::float8 * ${SPREAD.part}, ${SPREAD.maxSeconds}), ${SPREAD.minSeconds})), $8, $9
FROM task_runs r
CROSS JOIN LATERAL (SELECT CASE WHEN $10::boolean THEN now() ELSE coalesce(r.ended_at, now()) END + make_interval(secs => $7::float8)) AS u (until)
WHERE r.workspace_id = $1 AND r.id = $8 AND u.until > now()
  AND (SELECT count(*) FILTER (WHERE o.provider <> $3::text OR o.model IS DISTINCT FROM $4::text) FROM provider_limits o
    WHERE o.workspace_id = $1 AND o.over_at > now()) < ${MAX_OPEN}
ON CONFLICT (workspace_id, provider, model) DO UPDATE SET
  covers = CASE WHEN l.over_at <= now() THEN excluded.covers
    WHEN $11::text ~ l.covers OR length(l.covers) > ${MAX_COVERS} THEN l.covers
    ELSE l.covers || '|' || $12::text END,
  since = CASE WHEN l.over_at <= now() THEN excluded.since ELSE l.since END,
  over_at = CASE WHEN ${prolongs('$10')} THEN greatest(l.over_at, excluded.over_at) ELSE l.over_at END,
  ${REPORTED.map((name) => `${name} = CASE WHEN ${prolongs('$10')} THEN excluded.${name} ELSE l.${name} END`).join(',\n  ')}
WHERE l.over_at <= now() OR l.run_id = excluded.run_id OR EXISTS (
  SELECT FROM task_runs r WHERE r.workspace_id = l.workspace_id AND r.id = excluded.run_id AND r.ended_at IS NULL)
RETURNING l.id, l.until`,
);

function prolongs(byTheClock: string): string {
  return `(excluded.until > l.until AND (${byTheClock}::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now()))`;
}

/** Index: primary key. $1 workspace, $2 limit. */
export const removeProviderLimit = command<{ id: string }>(
  'remove_provider_limit',
  `DELETE FROM provider_limits WHERE workspace_id = $1 AND id = $2 AND until > now() RETURNING id`,
);

/** Those that nothing waits for any more. Index: provider_limits_over_idx. $1 rows at most, $2 workspace or NULL. */
export const removePastProviderLimits = command<{ workspace_id: string }>(
  'remove_past_provider_limits',
  `
DELETE FROM provider_limits l USING (
  SELECT workspace_id, id FROM provider_limits
  WHERE over_at <= now() AND ($2::uuid IS NULL OR workspace_id = $2)
  ORDER BY over_at LIMIT $1 FOR UPDATE SKIP LOCKED) p
WHERE l.workspace_id = p.workspace_id AND l.id = p.id
RETURNING l.workspace_id`,
);
