import { query } from '#lib/database';
import { waitsForAnswer } from '#lib/transitions';
import type { Invariant, Violation } from './invariant.js';

/** Sweeps come within a second. Nobody will come for a question that is overdue by more. */
const GRACE = `interval '60 seconds'`;

/**
 * A task that waits for an answer has exactly one open question and no run, and an open question
 * has such a task, or a live run that waits for the answer. An open question is closed at its
 * deadline.
 *
 * Reads all PAUSED tasks and all open questions: agent_tasks_status_idx, questions_open_key.
 */
export const oneOpenQuestion: Invariant = {
  name: 'one_open_question',
  title:
    'A task that waits for an answer has one open question and no run, and the other way round',
  sql: query<Violation>(
    'invariant_one_open_question',
    `
SELECT 'task ' || coalesce(t.id, q.task_id) AS subject, problem
FROM (SELECT *, ${waitsForAnswer('t')} AS waits FROM agent_tasks t WHERE ${waitsForAnswer('t')}
  OR t.run_id IN (SELECT run_id FROM questions WHERE status = 'open' AND run_waits)) t
FULL JOIN (SELECT * FROM questions WHERE status = 'open') q ON q.workspace_id = t.workspace_id AND q.task_id = t.id
CROSS JOIN LATERAL (VALUES
  (q.id IS NULL, 'waits for an answer, and has no open question'),
  (t.id IS NULL, 'has an open question, and does not wait for an answer'),
  (t.waits AND t.run_id IS NOT NULL, 'waits for an answer, and has a run'),
  (t.waits AND q.run_waits, 'waits for an answer to a question of a live run'),
  (q.deadline_at < now() - ${GRACE}, 'has an open question whose deadline has passed')
) AS found (wrong, problem)
WHERE found.wrong
ORDER BY 1
LIMIT $1`,
  ),
};
