import { command, query } from '#lib/database';
import type { McpServerSetting } from '#lib/projects';
import type { TaskAnswer } from '#lib/task-manager';
import type { ChangeFacts } from '../domain/change-sections.js';
import { MAX_RESULT } from '../domain/sections.js';

/** The maximum number of prerequisites, earlier runs and messages in a prompt. */
const MAX_PREREQUISITES = 20;
const MAX_RUNS = 10;
const MAX_MESSAGES = 20;

export interface PromptRow {
  title: string;
  description: string | null;
  instructions: string | null;
  steps: string[];
  deliverables: string[];
  acceptance: string[];
  acceptance_script: string | null;
  input_context: object;
  checkpoint_data: object;
  /** The task that the task continues. */
  continued: { id: string; title: string; summary: string | null } | null;
  /** The repository that the task changes. */
  change: ChangeFacts | null;
  answers: TaskAnswer[] | null;
  template: string | null;
  prerequisites:
    | {
        id: string;
        title: string;
        status: string;
        summary: string | null;
        result: string | null;
      }[]
    | null;
  runs:
    | {
        number: number;
        endedAt: string;
        endReason: string | null;
        error: string | null;
        errorClass: string | null;
        branch: string | null;
        exitCode: number | null;
        /** The end of the output of a failed acceptance. */
        output: string | null;
      }[]
    | null;
  messages: { type: string; text: string; data: unknown; isDelivered: boolean }[] | null;
}

/**
 * The facts about a task that its prompt tells, and the template of its workspace.
 *
 * Indexes: primary keys of the tasks, their dependencies, changes and templates, task_runs_task_idx,
 * change_reviews_change_idx,
 * run_messages_sequence_key. Reads the messages of all runs of the task, of which there are at most
 * 1,000 each. $1 workspace, $2 task, $3 whether a conversation continues, $4 the run of its point in
 * the past or NULL, $5 the last message of that run in it.
 */
export const promptFacts = query<PromptRow>(
  'prompt_facts',
  `
SELECT t.title, t.description, t.instructions, t.steps, t.deliverables, t.acceptance,
  t.acceptance_script, t.input_context,
  t.checkpoint_data, t.answers,
  (SELECT jsonb_build_object('repository', p.name, 'branch', c.branch, 'target', c.target,
    'path', p.path, 'acceptance', p.acceptance, 'feedback', coalesce((
      SELECT jsonb_agg(jsonb_build_object('kind', v.kind, 'verdict', v.verdict, 'author', v.author,
        'body', v.body, 'comments', v.comments, 'exitCode', v.exit_code,
        'isOnTarget', v.kind = 'proof' AND v.commit_id <> c.head_commit) ORDER BY v.id)
      FROM change_reviews v
      WHERE v.workspace_id = $1 AND v.task_id = c.task_id AND v.revision = c.revision
        AND v.verdict IN ('red', 'changes_requested', 'commented', 'conflict')), '[]'))
    FROM changes c JOIN repositories p ON p.workspace_id = $1 AND p.id = c.repository_id
    WHERE c.workspace_id = $1 AND c.task_id = t.id) AS change,
  (SELECT jsonb_build_object('id', c.id, 'title', c.title, 'summary', c.summary) FROM agent_tasks c
    WHERE c.workspace_id = $1 AND c.id = t.continues_id) AS continued,
  (SELECT p.template FROM prompt_templates p WHERE p.workspace_id = $1) AS template,
  (SELECT jsonb_agg(to_jsonb(d) ORDER BY d.id) FROM (
    SELECT p.id, p.title, p.status, p.summary, left(p.output_result::text, ${MAX_RESULT + 1}) AS result
    FROM task_dependencies e JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = e.depends_on_id
    WHERE e.workspace_id = $1 AND e.task_id = $2
    ORDER BY p.id LIMIT ${MAX_PREREQUISITES}) d) AS prerequisites,
  (SELECT jsonb_agg(to_jsonb(r) ORDER BY r.number) FROM (
    SELECT r.generation AS number, r.ended_at AS "endedAt", r.end_reason AS "endReason", r.error,
      r.error_class AS "errorClass", r.branch, r.exit_code AS "exitCode",
      CASE r.error_class WHEN 'acceptance_failed' THEN r.stack_trace END AS output
    FROM task_runs r WHERE r.workspace_id = $1 AND r.task_id = $2 AND r.ended_at IS NOT NULL
    ORDER BY r.generation DESC LIMIT ${MAX_RUNS}) r) AS runs,
  (SELECT jsonb_agg(to_jsonb(m) - 'run' - 'position' ORDER BY m.run, m.position) FROM (
    SELECT m.type, m.text, m.data, m.state = 'delivered' AS "isDelivered", r.generation AS run,
      m.sequence AS position
    FROM task_runs r JOIN run_messages m ON m.workspace_id = $1 AND m.run_id = r.id
    WHERE r.workspace_id = $1 AND r.task_id = $2 AND m.question_id IS NULL
      AND (m.state = 'undelivered' OR m.state = 'delivered' AND $3::boolean
        AND (r.generation, m.sequence) > (coalesce((SELECT k.generation FROM task_runs k
          WHERE k.workspace_id = $1 AND k.task_id = $2 AND k.id = $4::uuid), 0), $5::int))
    ORDER BY r.generation DESC, m.sequence DESC LIMIT ${MAX_MESSAGES}) m) AS messages
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2`,
);

/**
 * The task of a live run, with the instructions and the shown MCP servers of its project. Index: primary
 * keys. $1 workspace, $2 run, $3 its agent.
 */
export const liveTaskOfRun = query<{
  task_id: string;
  project_id: string | null;
  instructions: string | null;
  mcp_servers: McpServerSetting[] | null;
}>(
  'live_task_of_run',
  `
SELECT r.task_id, p.id AS project_id, p.instructions, p.mcp_servers FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
LEFT JOIN projects p ON p.workspace_id = $1 AND p.id = t.project_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3`,
);

/**
 * Keeps the prompt that a live run receives. No row if the run is no longer live. Index: primary
 * keys. $1 workspace, $2 run, $3 its agent, $4 prompt.
 */
export const keepPrompt = command<{ created_at: Date }>(
  'keep_prompt',
  `
INSERT INTO run_prompts (workspace_id, run_id, prompt)
SELECT $1, r.id, $4 FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
ON CONFLICT (workspace_id, run_id) DO UPDATE SET prompt = excluded.prompt, created_at = now()
RETURNING created_at`,
);

/** A run, with its prompt if it received one. Index: primary keys. $1 workspace, $2 run. */
export const promptOfRun = query<{
  task_id: string;
  prompt: string | null;
  created_at: Date | null;
}>(
  'prompt_of_run',
  `
SELECT r.task_id, p.prompt, p.created_at FROM task_runs r
LEFT JOIN run_prompts p ON p.workspace_id = $1 AND p.run_id = r.id
WHERE r.workspace_id = $1 AND r.id = $2`,
);

/** The maximum number of messages whose files a run gets. */
const MAX_WITH_FILES = 20;

/**
 * The attachments of messages to earlier runs of a task and of the tasks that it continues, the latest
 * first. An id that is no UUID has none.
 *
 * Indexes: primary keys, task_runs_task_idx, run_messages_sequence_key. Reads the messages of all these
 * runs. $1 workspace, $2 task.
 */
export const attachmentsOfMessages = query<{ id: string }>(
  'attachments_of_messages',
  `
WITH RECURSIVE line AS (
  SELECT t.id, t.continues_id, 1 AS depth FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2
  UNION ALL
  SELECT t.id, t.continues_id, line.depth + 1 FROM line
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = line.continues_id
  WHERE line.depth < ${MAX_WITH_FILES}
)
SELECT m.data ->> 'attachments' AS id
FROM line JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = line.id
JOIN run_messages m ON m.workspace_id = $1 AND m.run_id = r.id AND m.question_id IS NULL
WHERE pg_input_is_valid(m.data ->> 'attachments', 'uuid')
GROUP BY m.data ->> 'attachments'
ORDER BY max(m.sent_at) DESC, 1
LIMIT ${MAX_WITH_FILES}`,
);
