import { useRead } from '../api/read.js';
import type { Task } from '../domain/status.js';
import { waitsForAnswer } from '../domain/status.js';
import { QuestionPanel } from './question-panel.js';

/** What a task waits for, where that is a person. */
export function TaskQuestion({ task }: { task: Task }) {
  const asked = useRead(
    ['questions', 'open', task.id],
    (api, signal) => {
      const query = { status: 'open' as const, taskId: task.id, limit: 1 };
      return api.get('/api/v1/questions', { params: { query }, signal });
    },
    { enabled: waitsForAnswer(task) },
  );
  const [question] = asked.data?.items ?? [];
  return waitsForAnswer(task) && question ? <QuestionPanel question={question} /> : null;
}
