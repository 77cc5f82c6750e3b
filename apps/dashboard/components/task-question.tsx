import { useRead } from '../api/read.js';
import type { Task } from '../domain/status.js';
import { waitsForAnswer } from '../domain/status.js';
import { QuestionPanel } from './question-panel.js';

/** The open question of a task that waits for an answer. */
export function TaskQuestion({ task }: { task: Task }) {
  const questions = useRead(
    ['questions', 'open', task.id],
    (api, signal) => {
      const query = { status: 'open' as const, taskId: task.id, limit: 1 };
      return api.get('/api/v1/questions', { params: { query }, signal });
    },
    { enabled: waitsForAnswer(task) },
  );
  const [question] = questions.data?.items ?? [];
  return waitsForAnswer(task) && question ? <QuestionPanel question={question} /> : null;
}
