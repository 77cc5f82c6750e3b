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
  generation: number | null;
  /** The generation of the given run. Null: it is no run of the task. */
  kept_generation: number | null;
}

/**
 * The last entries of the conversation with a task's agent, oldest first.
 *
 * Without a name, so that each execution has its own plan: 7 ms with 200,000 entries. A plan for any task sorts all of
 * them, and so does a join that provides the task (3.6 s).
 *
 * Indexes: task_log_lines_pkey of each partition since the creation of the task, backward; primary keys. It reads
 * the other entries between them, too: 100 ms for 100,000. $1 workspace, $2 task, $3 run or NULL.
 */
export const conversationEntries = query<EntryRow>(
  '',
  `
SELECT l.event, l.level, l.message, l.call, l.tool, l.input, l.run_id, r.generation,
  (SELECT k.generation FROM task_runs k
    WHERE k.workspace_id = $1 AND k.id = $3::uuid AND k.task_id = $2) AS kept_generation
FROM (
  SELECT l.id, l.run_id, l.event, l.level, l.details -> 'call' AS call,
    left(l.message, CASE l.event WHEN 'agent_tool_result' THEN ${MAX_PART + 1} ELSE ${MAX_WORDS + 1} END) AS message,
    left(l.details ->> 'tool', ${MAX_PART}) AS tool, left(l.details ->> 'input', ${MAX_PART + 1}) AS input
  FROM task_log_lines l
  WHERE l.workspace_id = $1 AND l.task_id = $2 AND l.event IN (${EVENTS})
    AND l.created_at >= (SELECT t.created_at - interval '1 hour' FROM agent_tasks t
      WHERE t.workspace_id = $1 AND t.id = $2)
  ORDER BY l.id DESC LIMIT ${MAX_ENTRIES}) l
LEFT JOIN task_runs r ON r.workspace_id = $1 AND r.id = l.run_id
ORDER BY l.id`,
);
