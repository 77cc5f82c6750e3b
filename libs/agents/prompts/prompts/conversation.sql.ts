import { query } from '#lib/database';
import { CONVERSATION_EVENTS, MAX_PART, MAX_WORDS } from '../domain/past-calls.js';

/** Two for each call that a prompt can name, and room for messages. */
const MAX_ENTRIES = 500;
const EVENTS = CONVERSATION_EVENTS.map((event) => `'${event}'`).join(', ');

export interface EntryRow {
  event: string;
  level: string;
  message: string | null;
  call: unknown;
  tool: string | null;
  input: string | null;
  run_id: string | null;
  is_later: boolean;
}

/**
 * The last entries of the conversations with a task's agent, those of the task that it continues first. `is_later`
 * tells that the entry is of a later run than $3, or that $3 is no run of these tasks.
 *
 * Indexes: task_log_lines_pkey of each partition since the creation of the task, backward; primary keys. It reads
 * the other entries between them, too. $1 workspace, $2 task, $3 run or NULL.
 */
export const conversationEntries = query<EntryRow>(
  'conversation_entries',
  `
SELECT l.event, l.level, l.message, l.call, l.tool, l.input, l.run_id,
  coalesce(CASE l.task_id WHEN k.task_id THEN r.generation > k.generation ELSE l.task_id = $2 END, true) AS is_later
FROM agent_tasks t
JOIN agent_tasks o ON o.workspace_id = $1 AND o.id IN (t.id, t.continues_id)
LEFT JOIN task_runs k ON k.workspace_id = $1 AND k.id = $3::uuid AND k.task_id IN (t.id, t.continues_id)
CROSS JOIN LATERAL (
  SELECT l.id, l.task_id, l.run_id, l.event, l.level, l.details -> 'call' AS call,
    left(l.message, CASE l.event WHEN 'agent_tool_result' THEN ${MAX_PART + 1} ELSE ${MAX_WORDS + 1} END) AS message,
    left(l.details ->> 'tool', ${MAX_PART}) AS tool, left(l.details ->> 'input', ${MAX_PART + 1}) AS input
  FROM task_log_lines l
  WHERE l.workspace_id = $1 AND l.task_id = o.id AND l.created_at >= o.created_at - interval '1 hour'
    AND l.event IN (${EVENTS})
  ORDER BY l.id DESC LIMIT ${MAX_ENTRIES}) l
LEFT JOIN task_runs r ON r.workspace_id = $1 AND r.id = l.run_id
WHERE t.workspace_id = $1 AND t.id = $2
ORDER BY l.task_id = $2, l.id`,
);
