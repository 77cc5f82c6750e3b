import type { TaskView, WorkspaceView } from './read-views.sql.js';

/** A key of Valkey with all of its values, and the command that writes it. */
export interface ViewKey {
  key: string;
  kind: 'hset' | 'rpush';
  values: string[];
  /** The time after which it expires. */
  seconds: number;
}

/** The seconds for which the keys of a workspace live after their last change. */
const WORKSPACE_SECONDS = 86_400;

/**
 * Makes the keys from the rows of Postgres.
 *
 * @param secondsOf the time for which the key of a task lives
 */
export function viewKeys(
  workspaces: readonly WorkspaceView[],
  tasks: readonly TaskView[],
  secondsOf: (taskId: string) => number,
): ViewKey[] {
  const keysOfTasks = tasks.map((task) => keyOfTask(task, secondsOf(task.task_id)));
  return [...workspaces.flatMap(keysOfWorkspace), ...keysOfTasks];
}

function keysOfWorkspace(view: WorkspaceView): ViewKey[] {
  const { workspace_id: id, alerts, ...current } = view;
  const seconds = WORKSPACE_SECONDS;
  const listed = alerts.map((alert) => JSON.stringify(alert));
  return [
    { key: `usage:current:${id}`, kind: 'hset', values: Object.entries(current).flat(), seconds },
    { key: `usage:alerts:${id}`, kind: 'rpush', values: listed, seconds },
  ];
}

function keyOfTask(view: TaskView, seconds: number): ViewKey {
  const { task_id: id, allocated, consumed, remaining, agents } = view;
  const budget = allocated === null ? [] : ['allocated', allocated, 'remaining', `${remaining}`];
  const values = [...budget, 'consumed', consumed, 'agents', JSON.stringify(agents)];
  return { key: `usage:task:${id}`, kind: 'hset', values, seconds };
}
