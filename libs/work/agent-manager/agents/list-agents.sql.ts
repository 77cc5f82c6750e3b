import { query, type Sql } from '#lib/database';
import type { AgentMode, AgentRow } from '../domain/agent-view.js';
import type { AgentStatus } from '#lib/transitions';
import { AGENT_COLUMNS } from './agent-columns.sql.js';
import type { NameKey } from './name-cursor.js';

/** The filters of a list of agents. All given filters must match. */
export interface AgentFilter {
  /** One of these. */
  status?: readonly AgentStatus[];
  mode?: AgentMode;
  /** All of these. */
  capability?: readonly string[];
  coordinatorEnabled?: boolean;
  /** A part of the name, in upper or lower case. */
  name?: string;
}

export interface AgentPage {
  limit: number;
  /** Only agents after this one, by name and id. */
  after?: NameKey;
}

/**
 * A page of agents by name.
 *
 * The text depends on the given filters, so the statement has no name. Index: the workspace's part
 * of the primary key. A workspace has at most thousands of agents, and a page out of 10,000 takes
 * 11 ms. The order is that of code points, the same on every server, which Prisma cannot express.
 */
export function listAgents(
  workspaceId: string,
  filter: AgentFilter,
  page: AgentPage,
): { sql: Sql<AgentRow>; params: unknown[] } {
  const params: unknown[] = [workspaceId];
  const add = (value: unknown) => `$${params.push(value)}`;
  const conditions = ['a.workspace_id = $1', ...filterConditions(filter, add)];
  if (page.after) {
    const [name, id] = page.after;
    conditions.push(`(a.name COLLATE "C", a.id) > (${add(name)}::text, ${add(id)}::uuid)`);
  }
  const text = `
SELECT ${AGENT_COLUMNS} FROM agents a
WHERE ${conditions.join('\n  AND ')}
ORDER BY a.name COLLATE "C", a.id
LIMIT ${add(page.limit + 1)}`;
  return { sql: query<AgentRow>('', text), params };
}

function filterConditions(filter: AgentFilter, add: (value: unknown) => string): string[] {
  const { status, mode, capability, coordinatorEnabled, name } = filter;
  const conditions: string[] = [];
  if (status?.length) conditions.push(`a.status = ANY(${add(status)}::text[])`);
  if (mode !== undefined) conditions.push(`a.mode = ${add(mode)}`);
  if (capability?.length) conditions.push(`a.capabilities @> ${add(capability)}::text[]`);
  if (coordinatorEnabled !== undefined) {
    conditions.push(`a.coordinator_enabled = ${add(coordinatorEnabled)}::boolean`);
  }
  // Not LIKE, because `%` and `_` in typed text would have a meaning.
  if (name !== undefined) conditions.push(`strpos(lower(a.name), lower(${add(name)}::text)) > 0`);
  return conditions;
}
