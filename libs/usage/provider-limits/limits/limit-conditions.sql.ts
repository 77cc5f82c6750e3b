import { SERVER_RULES, TIER_MODELS, VERSION_OF_MODEL } from '#lib/models';

/*
 * Conditions on tasks and agents that wait for a provider. Only while the workspace has a limit do
 * they ask which rule gives a task its model, and whether a limit covers it. Otherwise each
 * condition is one look at an index without entries.
 */

const RULES = JSON.stringify(Object.values(SERVER_RULES));
const TIERS = JSON.stringify(TIER_MODELS);

/**
 * SQL: the limits under which a task waits (`limit_id`, `free_at`, `of_fallback`). A coding agent
 * waits only if all fallbacks of its model are refused, too. `t` is an alias of agent_tasks.
 */
export function limitsOfTask(t: string): string {
  return `limits_of_task(${t}.workspace_id, ${t}.id, '${RULES}', '${TIERS}', '${VERSION_OF_MODEL}',
      ${t}.task_type, ${t}.priority, ${t}.project_id, ${t}.estimated_complexity,
      CASE WHEN ${t}.estimate_source <> 'default' THEN ${t}.estimated_tokens END,
      ${t}.agent IS NOT NULL)`;
}

/** SQL: a limit holds the live run `r` of the task `t`, which coding agents pass by their fallbacks. */
export function isRunLimited(t: string, r: string): string {
  return `EXISTS (SELECT FROM provider_limits_of_models(${t}.workspace_id, ${t}.id, ARRAY[${r}.model],
      coalesce((SELECT m.fallbacks FROM model_routing m
        WHERE m.workspace_id = ${t}.workspace_id AND ${t}.agent IS NOT NULL), '[]'), '${VERSION_OF_MODEL}'))`;
}

/** SQL: a provider refuses the workspace, or did until a moment ago. Index: primary key. */
export function hasProviderLimits(workspace: string): string {
  return `EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = ${workspace} AND l.over_at > now())`;
}

/** SQL: no provider refuses the model that a task needs. */
export function isFreeOfProviderLimits(t: string, workspace: string): string {
  return `(NOT ${hasProviderLimits(workspace)} OR NOT EXISTS (SELECT FROM ${limitsOfTask(t)}))`;
}

/**
 * SQL: the end of the last limit that covers the own model of an agent, or NULL. `a` is an alias of
 * agents.
 */
export function agentLimitedUntil(a: string): string {
  return `CASE WHEN ${a}.model IS NOT NULL
    THEN provider_limit_end_of_agent(${a}.workspace_id, ${a}.id, ${a}.model) END`;
}

/** SQL: a provider refuses the own model of an agent. */
export function isAgentLimited(a: string): string {
  return `(${agentLimitedUntil(a)}) IS NOT NULL`;
}
