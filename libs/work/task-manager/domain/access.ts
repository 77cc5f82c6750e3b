import type { Caller } from '#lib/kernel';

/** A task's live run, and the agent that holds it or held it last. */
export interface Holder {
  taskId: string;
  runId: string | null;
  agentId: string | null;
}

/** The part of a task that a caller can see. Null hides even its existence. */
export type Visibility = 'people' | 'holder' | null;

/**
 * People see every task of their workspace without secrets. An agent sees the tasks that it holds,
 * and a run its own, with secrets. They see a task that they held last as people do, until another
 * agent holds it.
 */
export function visibilityOf(caller: Caller, holder: Holder): Visibility {
  switch (caller.kind) {
    case 'user':
    case 'api_key':
      return 'people';
    case 'agent':
      return holder.agentId === caller.agentId ? sightOf(holder.runId) : null;
    case 'run':
      if (holder.taskId !== caller.taskId || holder.agentId !== caller.agentId) return null;
      return holder.runId === null || holder.runId === caller.runId ? sightOf(holder.runId) : null;
    case 'hook':
    case 'schedule':
    case 'coordinator':
      return null;
  }
}

function sightOf(runId: string | null): Visibility {
  return runId === null ? 'people' : 'holder';
}
