import type { Api } from '../shared/api.js';

export interface LogEntry {
  level: string;
  event: string;
  message: string | null;
  agentId: string | null;
  previousStatus: string | null;
  newStatus: string | null;
  actor: { kind: string; id: string | null };
  createdAt: string;
}

/** The whole log of a task, the oldest entry first. */
export async function readLog(member: Api, taskId: string): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  let cursor = '';
  for (;;) {
    const page = await member.get<{ items: LogEntry[]; nextCursor: string | null }>(
      `/agent-tasks/${taskId}/logs?order=asc&limit=100${cursor}`,
    );
    entries.push(...page.items);
    if (page.nextCursor === null) return entries;
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}

export interface Recovery {
  /** Milliseconds from the SIGKILL until the server took the worker for dead. */
  foundMs: number;
  requeuedMs: number;
  claimedMs: number;
  runningMs: number;
  completedMs: number;
}

/** When each step of the recovery came, from the task's log. */
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
