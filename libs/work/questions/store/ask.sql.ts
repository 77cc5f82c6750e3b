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
 * NULL, $10 the deadline or NULL, $11 what happens then, $12 default or NULL, $13 and $14 kind and
 * id of the actor.
 */
export const insertQuestion = command<{ id: string }>(
  'insert_question',
  `
WITH q AS (
  INSERT INTO questions (workspace_id, id, task_id, run_id, agent_id, prompt, choices, free_text,
    deadline_at,
    on_deadline, default_answer)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, date_trunc('milliseconds',
    coalesce($10::timestamptz, now() + make_interval(secs => $9::float8))), $11, $12)
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
      actor_kind: '$13',
      actor_id: '$14',
    },
    'q',
  )}
)
SELECT id FROM q`,
);
