import type { TaskView, WorkspaceView } from './read-views.sql.js';

/** A key of Valkey with all of its values, and the command that writes it. */
export interface ViewKey {
  key: string;
  kind: 'hset' | 'rpush';
  values: string[];
}

/** Makes the keys from the rows of Postgres. */
export function viewKeys(
  workspaces: readonly WorkspaceView[],
  tasks: readonly TaskView[],
): ViewKey[] {
  return [...workspaces.flatMap(keysOfWorkspace), ...tasks.map(keyOfTask)];
}

function keysOfWorkspace(view: WorkspaceView): ViewKey[] {
  const { workspace_id: id, alerts, ...current } = view;
  return [
    { key: `usage:current:${id}`, kind: 'hset', values: Object.entries(current).flat() },
    {
      key: `usage:alerts:${id}`,
      kind: 'rpush',
      values: alerts.map((alert) => JSON.stringify(alert)),
    },
  ];
}

function keyOfTask({ task_id: id, allocated, consumed, remaining, agents }: TaskView): ViewKey {
  const budget = allocated === null ? [] : ['allocated', allocated, 'remaining', `${remaining}`];
  const values = [...budget, 'consumed', consumed, 'agents', JSON.stringify(agents)];
  return { key: `usage:task:${id}`, kind: 'hset', values };
}
