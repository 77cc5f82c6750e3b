import type { components } from '#lib/api-client';
import { type PageOf, useRead } from './read.js';

export type TaskTemplate = components['schemas']['TaskTemplate'];

const PAGE = 200;

/** The templates of the workspace, at most 1,000, by name. */
export function useTemplates() {
  return useRead(['task-templates'], async (api, signal) => {
    const templates: TaskTemplate[] = [];
    let cursor: string | undefined;
    do {
      const params = { query: { limit: PAGE, cursor } };
      const page: PageOf<TaskTemplate> = await api.get('/api/v1/task-templates', {
        params,
        signal,
      });
      templates.push(...page.items);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return templates.toSorted((one, other) => one.name.localeCompare(other.name));
  });
}
