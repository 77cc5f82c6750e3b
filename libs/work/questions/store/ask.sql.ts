import { command } from '#lib/database';
import { journalRow } from '#lib/transitions';

/** SQL: the fields of a question `q` in its events. */
export const SAID = `'questionId', q.id, 'prompt', q.prompt`;

/**
 * Stores a question of a run with the journal row. Its deadline is a whole millisecond, because
 * cursors contain it.
 *
 * Under the task's lock, before its transition. $1 workspace, $2 question, $3 task, $4 run, $5
 * agent, $6 prompt, $7 choices, $8 whether any text is an answer, $9 seconds until the deadline or
 * NULL, $10 the deadline or NULL, $11 what happens then, $12 default or NULL, $13 whether the run
 * waits for the answer, $14 and $15 kind and id of the actor.
 */
export const insertQuestion = command<{ id: string }>(
  'insert_question',
  `
WITH q AS (
  INSERT INTO questions (workspace_id, id, task_id, run_id, agent_id, prompt, choices, free_text,
    deadline_at,
    on_deadline, default_answer, run_waits)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, date_trunc('milliseconds',
    coalesce($10::timestamptz, now() + make_interval(secs => $9::float8))), $11, $12, $13)
  RETURNING *
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'q.workspace_id',
      event: "'question.asked'",
      log_event: "'question_asked'",
      task_id: 'q.task_id',
      run_id: 'q.run_id',
      agent_id: 'q.agent_id',
      level: "'INFO'",
      message: "'It asks: ' || left(q.prompt, 500)",
      details: `jsonb_build_object(${SAID}, 'choices', q.choices, 'freeText', q.free_text,
        'deadlineAt', to_json(q.deadline_at)::jsonb, 'onDeadline', q.on_deadline)`,
      actor_kind: '$14',
      actor_id: '$15',
    },
    'q',
  )}
)
SELECT id FROM q`,
);

/**
 * Cancels the open question for whose answer a run waits. Index: questions_open_key. $1 workspace,
 * $2 task, $3 run.
 */
export const cancelWaitedFor = command<{ id: string }>(
  'cancel_waited_for',
  `
UPDATE questions q SET status = 'cancelled', closed_at = now()
WHERE q.workspace_id = $1 AND q.task_id = $2 AND q.run_id = $3 AND q.status = 'open' AND q.run_waits
RETURNING q.id`,
);
