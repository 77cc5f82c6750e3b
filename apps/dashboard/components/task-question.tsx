import { useRead } from '../api/read.js';
import type { Task } from '../domain/status.js';
import { waitsForAnswer } from '../domain/status.js';
import { QuestionPanel } from './question-panel.js';

/** Polls for permissions, which a live run asks. */
const EVERY_MS = 5_000;

/** The open question of a task, or of its live run that waits for an answer. */
export function TaskQuestion({ task }: { task: Task }) {
  const canAsk = waitsForAnswer(task) || (task.agent !== null && task.runId !== null);
  const questions = useRead(
    ['questions', 'open', task.id],
    (api, signal) => {
      const query = { status: 'open' as const, taskId: task.id, limit: 1 };
      return api.get('/api/v1/questions', { params: { query }, signal });
    },
    { enabled: canAsk, ...(task.runId !== null && { every: EVERY_MS }) },
  );
  const [question] = questions.data?.items ?? [];
  return canAsk && question ? <QuestionPanel question={question} /> : null;
}
