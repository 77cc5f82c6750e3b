import { type DroverClient, itemsOf, type LogEntry } from '#lib/api-client';

/** Returns the whole log of a task, the oldest entry first. */
export async function readLog(member: DroverClient, id: string): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  const page = { order: 'asc' as const, limit: 100 };
  const read = (from: { cursor?: string }) => {
    const params = { path: { id }, query: { ...page, ...from } };
    return member.get('/api/v1/agent-tasks/{id}/logs', { params });
  };
  for await (const entry of itemsOf(read)) entries.push(entry);
  return entries;
}

export interface Recovery {
  /** Milliseconds from the SIGKILL until the server declared the worker dead. */
  foundMs: number;
  requeuedMs: number;
  claimedMs: number;
  runningMs: number;
  completedMs: number;
}

/** The time of each step of the recovery, from the task's log. */
export function recoveryOf(log: readonly LogEntry[], killedAt: Date): Recovery {
  const later = log.filter(({ createdAt }) => Date.parse(createdAt) >= killedAt.getTime());
  const until = (status: string): number => {
    const entry = later.find(({ newStatus }) => newStatus === status);
    return entry === undefined ? NaN : Date.parse(entry.createdAt) - killedAt.getTime();
  };
  return {
    foundMs: until('ABORTED'),
    requeuedMs: until('PENDING'),
    claimedMs: until('ASSIGNED'),
    runningMs: until('RUNNING'),
    completedMs: until('COMPLETED'),
  };
}
