import type { Caller } from '#lib/kernel';

/** The run that a task has now. */
export interface Holder {
  runId: string | null;
  agentId: string | null;
}

/** How much of a task a caller may see; null: not even that it exists. */
export type Visibility = 'people' | 'holder' | null;

/**
 * People see every task of their workspace, without the secrets in it. An agent sees the tasks that it
 * holds, and a run its own, with everything.
 */
export function visibilityOf(caller: Caller, holder: Holder): Visibility {
  switch (caller.kind) {
    case 'user':
    case 'api_key':
      return 'people';
    case 'agent':
      return holder.runId !== null && holder.agentId === caller.agentId ? 'holder' : null;
    case 'run':
      return holder.runId === caller.runId ? 'holder' : null;
  }
}
