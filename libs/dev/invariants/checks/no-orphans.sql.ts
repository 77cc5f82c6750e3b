import { query } from '#lib/database';
import type { Invariant, Violation } from './invariant.js';

/**
 * References without a foreign key: child, its columns, parent, its columns. The first column is
 * the workspace's except for users. The log can name a missing run, because it records the findings
 * of recover_orphans.
 */
const REFERENCES = [
  ['agent_tasks', ['workspace_id'], 'workspaces', ['id']],
  ['agent_tasks', ['created_by'], 'users', ['id']],
  ['agent_tasks', ['workspace_id', 'agent_id'], 'agents', ['workspace_id', 'id']],
  ['agent_tasks', ['workspace_id', 'run_id'], 'task_runs', ['workspace_id', 'id']],
  ['task_runs', ['workspace_id', 'task_id'], 'agent_tasks', ['workspace_id', 'id']],
  ['task_runs', ['workspace_id', 'agent_id'], 'agents', ['workspace_id', 'id']],
  ['session_spawns', ['workspace_id', 'run_id'], 'task_runs', ['workspace_id', 'id']],
  ['agent_heartbeats', ['workspace_id', 'agent_id'], 'agents', ['workspace_id', 'id']],
  ['agent_heartbeat_history', ['workspace_id', 'agent_id'], 'agents', ['workspace_id', 'id']],
  ['journal', ['workspace_id', 'task_id'], 'agent_tasks', ['workspace_id', 'id']],
  ['journal', ['workspace_id', 'agent_id'], 'agents', ['workspace_id', 'id']],
  ['task_log_lines', ['workspace_id', 'task_id'], 'agent_tasks', ['workspace_id', 'id']],
  ['task_log_lines', ['workspace_id', 'agent_id'], 'agents', ['workspace_id', 'id']],
  ['artifacts', ['workspace_id', 'task_id'], 'agent_tasks', ['workspace_id', 'id']],
  ['artifacts', ['workspace_id', 'run_id'], 'task_runs', ['workspace_id', 'id']],
] as const;

function orphans(
  [child, columns, parent, keys]: (typeof REFERENCES)[number],
  position: number,
): string {
  const column = columns.at(-1);
  const matches = keys.map((key, n) => `p.${key} = c.${columns[n]}`).join(' AND ');
  return `SELECT DISTINCT ${position} AS position, '${parent} ' || c.${column} AS subject, 'is missing, and ${child} has rows of it' AS problem
FROM ${child} c
WHERE c.${column} IS NOT NULL AND NOT EXISTS (SELECT FROM ${parent} p WHERE ${matches})`;
}

/**
 * Referenced rows exist where no foreign key says so. Statements that write such references lock
 * the referenced rows, and triggers refuse their removal.
 *
 * Reads the tables of REFERENCES, each against the primary key of its parent, hashed.
 */
export const noOrphans: Invariant = {
  name: 'no_orphans',
  title: 'No row refers to one that is missing',
  sql: query<Violation>(
    'invariant_no_orphans',
    `SELECT subject, problem FROM (\n${REFERENCES.map(orphans).join('\nUNION ALL\n')}) found
ORDER BY position, subject LIMIT $1`,
  ),
};
