import type { Core } from './core.js';
import type { Agent } from './site.js';

/** Each agent claims and completes in turns until nothing is left. @returns the number of tasks */
export async function drainWithCore(
  core: Core,
  workspaceId: string,
  { agents, batch }: { agents: readonly Agent[]; batch: number },
): Promise<number> {
  const done = agents.map(async ({ id }) => {
    for (let count = 0; ;) {
      const claimed = await core.claim(workspaceId, id, batch);
      if (claimed.length === 0) return count;
      await core.complete(workspaceId, id, claimed);
      count += claimed.length;
    }
  });
  return (await Promise.all(done)).reduce((sum, count) => sum + count, 0);
}
