import { useRead } from './read.js';

const EVERY_MS = 10_000;

/** The latest 100 runs of a task, oldest first. */
export function useTaskRuns(id: string) {
  return useRead(
    ['task', id, 'runs'],
    async (api, signal) => {
      const params = { path: { id }, query: { limit: 100 } };
      const page = await api.get('/api/v1/agent-tasks/{id}/runs', { params, signal });
      return { ...page, items: page.items.toSorted((a, b) => a.generation - b.generation) };
    },
    { every: EVERY_MS },
  );
}

/** The latest 100 questions that the runs of a task asked, oldest first. */
export function useTaskQuestions(taskId: string) {
  return useRead(
    ['task', taskId, 'questions'],
    async (api, signal) => {
      const params = { query: { taskId, limit: 100 } };
      const { items } = await api.get('/api/v1/questions', { params, signal });
      return items.toSorted((one, other) => Date.parse(one.askedAt) - Date.parse(other.askedAt));
    },
    { every: EVERY_MS },
  );
}
