import { command, query } from '#lib/database';
import { journalRow } from '#lib/transitions';
import type { TaskAnswer } from '#lib/task-manager';
import type { ColumnOfTask, Original } from '#lib/secrets';
import type { OnDeadline } from '../domain/question.js';
import { SAID } from '../store/ask.sql.js';

/** A question that was just closed. */
export interface ClosedRow {
  id: string;
  task_id: string;
  run_id: string;
  agent_id: string;
  /** The run is live and waits for the answer. */
  run_waits: boolean;
  prompt: string;
  on_deadline: OnDeadline;
  /** NULL means none, so that its task fails. */
  answer: string | null;
  closed_at: Date;
}

const CLOSED = `q.id, q.task_id, q.run_id, q.agent_id, q.run_waits, q.prompt, q.on_deadline,
  q.answer, q.closed_at`;

/**
 * Stores an answer with the journal row. No row if the question is closed.
 *
 * Under the task's lock. Index: primary key. $1 workspace, $2 question, $3 the public form of the
 * answer, $4 and $5 kind and id of the actor.
 */
export const answerQuestion = command<ClosedRow>(
  'answer_question',
  `
WITH q AS (
  UPDATE questions q SET status = 'answered', answer = $3,
    answered_by = $4::text || coalesce(':' || $5::text, ''),
    closed_at = now()
  WHERE q.workspace_id = $1 AND q.id = $2 AND q.status = 'open'
  RETURNING q.*
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'q.workspace_id',
      event: "'question.answered'",
      log_event: "'question_answered'",
      task_id: 'q.task_id',
      run_id: 'q.run_id',
      agent_id: 'q.agent_id',
      level: "'INFO'",
      message: "'Answered: ' || left(q.answer, 500)",
      details: `jsonb_build_object(${SAID}, 'answer', q.answer, 'answeredBy', q.answered_by)`,
      actor_kind: '$4',
      actor_id: '$5',
    },
    'q',
  )}
)
SELECT ${CLOSED} FROM q`,
);

/**
 * Questions whose deadline has passed, read without locks.
 *
 * Index: questions_due_idx. $1 maximum number of rows, $2 workspace or NULL.
 */
export const dueQuestions = query<{ workspace_id: string; id: string; task_id: string }>(
  'due_questions',
  `
SELECT q.workspace_id, q.id, q.task_id FROM questions q
WHERE q.status = 'open' AND q.deadline_at <= now() AND ($2::uuid IS NULL OR q.workspace_id = $2)
ORDER BY q.deadline_at
LIMIT $1`,
);

/** SQL: the earliest deadline. Index: questions_due_idx. */
export const NEXT_DEADLINE = `(SELECT deadline_at FROM questions WHERE status = 'open'
  ORDER BY deadline_at LIMIT 1)`;

/**
 * Closes an unanswered question at its deadline with the journal row. No row if it was closed
 * meanwhile.
 *
 * Under the task's lock. Index: primary key. $1 workspace, $2 question.
 */
export const expireQuestion = command<ClosedRow>(
  'expire_question',
  `
WITH q AS (
  UPDATE questions q SET status = 'expired', closed_at = now(),
    answer = CASE WHEN q.on_deadline = 'default' THEN q.default_answer END
  WHERE q.workspace_id = $1 AND q.id = $2 AND q.status = 'open' AND q.deadline_at <= now()
  RETURNING q.*
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'q.workspace_id',
      event: "'question.expired'",
      log_event: "'question_expired'",
      task_id: 'q.task_id',
      run_id: 'q.run_id',
      agent_id: 'q.agent_id',
      level: "'WARN'",
      message: `CASE q.on_deadline
        WHEN 'default' THEN 'Nobody answered in time; the default counts: ' || left(q.answer, 500)
        ELSE 'Nobody answered in time' END`,
      details: `jsonb_build_object(${SAID}, 'answer', q.answer, 'onDeadline', q.on_deadline)`,
      actor_kind: "'coordinator'",
    },
    'q',
  )}
)
SELECT ${CLOSED} FROM q`,
);

/**
 * The public form of a task's answers so far, with their original if it contains secrets.
 *
 * Indexes: primary keys. $1 workspace, $2 task.
 */
export const answersOfTask = query<{
  answers: TaskAnswer[] | null;
  original: Original<ColumnOfTask> | null;
}>(
  'answers_of_task',
  `
SELECT t.answers, (SELECT to_jsonb(s) FROM task_secrets s
  WHERE s.workspace_id = $1 AND s.task_id = t.id AND s.column_name = 'answers') AS original
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2`,
);
