import type { Message } from '#lib/journal';

/** A row of a workspace. */
export interface Place {
  workspaceId: string;
  id: string;
}

/** The rows whose keys are written anew, each once. */
export interface Changes {
  tasks: readonly Place[];
  runs: readonly Place[];
  agents: readonly Place[];
  /** Workspaces in which a task began or ended to wait for its retry. */
  recoveries: readonly string[];
}

export const NO_CHANGES: Changes = { tasks: [], runs: [], agents: [], recoveries: [] };

/** The events that change a key. Progress, for instance, changes none. */
const CHANGING: ReadonlySet<unknown> = new Set([
  'task.created',
  'task.status_changed',
  'task.updated',
  'run.state_changed',
  'agent.status_changed',
]);

/** The rows that these messages are about. The messages carry no state: it is read when needed. */
export function changesOf(messages: readonly Message[]): Changes {
  const [tasks, runs, agents] = [places(), places(), places()];
  const recoveries = new Set<string>();
  for (const { workspaceId, subject, taskId, agentId, body } of messages) {
    if (!CHANGING.has(body['event'])) continue;
    if (subject === 'task') tasks.add(workspaceId, taskId);
    runs.add(workspaceId, body['runId']);
    agents.add(workspaceId, agentId);
    const statuses = [body['previousStatus'], body['newStatus']];
    if (subject === 'task' && statuses.includes('ABORTED')) recoveries.add(workspaceId);
  }
  return {
    tasks: tasks.all(),
    runs: runs.all(),
    agents: agents.all(),
    recoveries: [...recoveries],
  };
}

/** Collects rows, each once. */
function places() {
  const found = new Map<string, Place>();
  return {
    add(workspaceId: string, id: unknown): void {
      if (typeof id === 'string') found.set(`${workspaceId}:${id}`, { workspaceId, id });
    },
    all: () => [...found.values()],
  };
}
