import { query } from '#lib/database';
import type { OnDeadline, QuestionStatus } from '../domain/question.js';

export interface QuestionRow {
  id: string;
  task_id: string;
  task_title: string;
  run_id: string;
  agent_id: string;
  prompt: string;
  choices: string[];
  free_text: boolean;
  status: QuestionStatus;
  asked_at: Date;
  deadline_at: Date;
  on_deadline: OnDeadline;
  default_answer: string | null;
  answer: string | null;
  answered_by: string | null;
  closed_at: Date | null;
  run_waits: boolean;
}

const SHOWN = `SELECT q.id, q.task_id, t.title AS task_title, q.run_id, q.agent_id, q.prompt,
  q.choices, q.free_text,
  q.status, q.asked_at, q.deadline_at, q.on_deadline, q.default_answer, q.answer, q.answered_by, q.closed_at,
  q.run_waits
FROM questions q JOIN agent_tasks t ON t.workspace_id = q.workspace_id AND t.id = q.task_id`;

/** Index: primary keys. $1 workspace, $2 question. */
export const questionById = query<QuestionRow>(
  'question_by_id',
  `
${SHOWN}
WHERE q.workspace_id = $1 AND q.id = $2`,
);

/** The question that ended a run. Index: questions_run_key. $1 workspace, $2 run, $3 agent. */
export const questionOfRun = query<QuestionRow>(
  'question_of_run',
  `
${SHOWN}
WHERE q.workspace_id = $1 AND q.run_id = $2 AND q.agent_id = $3 AND NOT q.run_waits`,
);

/**
 * The open question for whose answer a run waits. Index: questions_open_key. $1 workspace, $2 task,
 * $3 run.
 */
export const waitedForByRun = query<QuestionRow>(
  'waited_for_by_run',
  `
${SHOWN}
WHERE q.workspace_id = $1 AND q.task_id = $2 AND q.run_id = $3 AND q.status = 'open' AND q.run_waits`,
);

/**
 * SQL: the run `r` waits for an answer of a person, or has waited within this time. It cannot
 * progress meanwhile. Index: questions_task_idx.
 */
export const waitsOrHasWaited = (r: string, seconds: string) => `EXISTS (SELECT FROM questions q
    WHERE q.workspace_id = ${r}.workspace_id AND q.task_id = ${r}.task_id AND q.run_id = ${r}.id
      AND q.run_waits
      AND (q.closed_at IS NULL OR q.closed_at > now() - make_interval(secs => ${seconds}::float8)))`;

/**
 * Number of questions of a task: those that ended a run, or those for whose answers runs waited.
 *
 * Index: questions_task_idx. $1 workspace, $2 task, $3 whether runs waited.
 */
export const countQuestions = query<{ count: number }>(
  'count_questions',
  `SELECT count(*)::int AS count FROM questions
WHERE workspace_id = $1 AND task_id = $2 AND run_waits = $3`,
);

/**
 * Questions of a workspace, newest first. Index: primary key; questions_status_idx, or
 * questions_task_idx for those of a task. $1 workspace, $2 status or NULL, $3 task or NULL, $4 last
 * id of the previous page or NULL, $5 maximum number of rows.
 */
export const newestQuestions = query<QuestionRow>(
  'newest_questions',
  `
${SHOWN}
WHERE q.workspace_id = $1 AND ($2::text IS NULL OR q.status = $2)
  AND ($3::uuid IS NULL OR q.task_id = $3)
  AND ($4::uuid IS NULL OR q.id < $4)
ORDER BY q.id DESC LIMIT $5`,
);

/**
 * Open questions, nearest deadline first. Index: questions_urgent_idx. $1 workspace, $2 task or
 * NULL, $3 and $4 deadline and id of the last row of the previous page, or NULL, $5 maximum number
 * of rows.
 */
export const urgentQuestions = query<QuestionRow>(
  'urgent_questions',
  `
${SHOWN}
WHERE q.workspace_id = $1 AND q.status = 'open' AND ($2::uuid IS NULL OR q.task_id = $2)
  AND ($3::timestamptz IS NULL OR (q.deadline_at, q.id) > ($3, $4::uuid))
ORDER BY q.deadline_at, q.id LIMIT $5`,
);
