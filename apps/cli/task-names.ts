import { agentNames } from './actors.js';
import type { Cli } from './cli.js';
import type { Task } from './task-view.js';

/** The names of things that a task names by their ids. */
export interface TaskNames {
  agent: string | null;
  project: string | null;
  milestone: string | null;
  schedule: string | null;
}

/**
 * Reads the names. A thing that the caller must not read, or that is deleted, has its id, and so
 * have all with --json.
 */
export async function readTaskNames(cli: Cli, task: Task): Promise<TaskNames> {
  const { drover, out } = cli;
  const { agentId, projectId, milestoneId, scheduleId } = task;
  const nameOf = async (id: string | null, read: (id: string) => Promise<{ name: string }>) => {
    if (id === null || out.json) return id;
    const found = await read(id).catch(() => undefined);
    return found?.name ?? id;
  };
  const byId = (id: string) => ({ params: { path: { id } } });
  const [agents, project, milestone, schedule] = await Promise.all([
    agentNames(cli, agentId === null ? [] : [agentId]),
    nameOf(projectId, (id) => drover.get('/api/v1/projects/{id}', byId(id))),
    nameOf(milestoneId, (id) => drover.get('/api/v1/milestones/{id}', byId(id))),
    nameOf(scheduleId, (id) => drover.get('/api/v1/schedules/{id}', byId(id))),
  ]);
  return { agent: agentId && (agents.get(agentId) ?? agentId), project, milestone, schedule };
}
