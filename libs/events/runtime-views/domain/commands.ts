/** A command of Valkey: its name, its key and its arguments. `HSETNEWER` is our own. */
export type ViewCommand = readonly [name: string, key: string, ...args: (string | number)[]];

/** Times of all rows are milliseconds since 1970. */
export interface TaskRow {
  workspace_id: string;
  id: string;
  status: string;
  priority: number;
  created_at: number;
}

export interface RunRow {
  workspace_id: string;
  id: string;
  task_id: string;
  agent_id: string;
  session_key: string | null;
  is_live: boolean;
  started_at: number | null;
  /** Milliseconds for which the assignment is still recent. */
  lock_ms: number;
}

export interface AgentRow {
  workspace_id: string;
  id: string;
  status: string;
  last_seen_at: number | null;
  /** The tasks of its live runs, the oldest run first. */
  held: readonly { task_id: string; assigned_at: number }[];
}

export interface RetryRow {
  workspace_id: string;
  /** The tasks that wait for their retry, the first due comes first. */
  tasks: readonly string[];
}

const SESSION_SECONDS = 3_600;
/** A step of a priority, in milliseconds: more than the time since 1970, and exact in a score. */
const PER_PRIORITY = 1e13;
const HIGHEST_PRIORITY = 10;
/** Arguments of one command, below the limit of a script. */
const AT_ONCE = 1_000;
export const STALE_AGENTS = 'coordinator:stale_agents';

/** Ascending scores are the order of the queue: the highest priority first, then the oldest. */
export function queueScore(priority: number, createdAt: number): number {
  return (HIGHEST_PRIORITY - priority) * PER_PRIORITY + createdAt;
}

export function commandsOfTask(task: TaskRow): ViewCommand[] {
  const key = `tasks:pending:${task.workspace_id}`;
  if (task.status !== 'PENDING') return [['ZREM', key, task.id]];
  return [['ZADD', key, queueScore(task.priority, Math.floor(task.created_at)), task.id]];
}

/** A run whose session has no key of its own is named by its id. */
export function commandsOfRun(run: RunRow): ViewCommand[] {
  const { workspace_id: workspaceId, agent_id: agentId, task_id: taskId } = run;
  const active = `tasks:active:${workspaceId}`;
  const session = run.session_key ?? run.id;
  const member = `${taskId}:${session}`;
  const commands: ViewCommand[] = [];
  if (session !== run.id) {
    commands.push(['SREM', active, `${taskId}:${run.id}`], ['DEL', contextKey(run.id)]);
  }
  if (!run.is_live) return [...commands, ['SREM', active, member]];
  const context = { workspace_id: workspaceId, agent_id: agentId, task_id: taskId };
  const startedAt = run.started_at === null ? [] : ['started_at', Math.floor(run.started_at)];
  commands.push(
    ['SADD', active, member],
    ['HSET', contextKey(session), ...Object.entries(context).flat(), ...startedAt],
    ['EXPIRE', contextKey(session), SESSION_SECONDS],
  );
  const lockMs = Math.floor(run.lock_ms);
  if (lockMs > 0) commands.push(['SET', `task:assign_lock:${taskId}`, agentId, 'PX', lockMs]);
  return commands;
}

export function commandsOfAgent(agent: AgentRow): ViewCommand[] {
  const [status, tasks] = [`agent:status:${agent.id}`, `agent:tasks:${agent.id}`];
  const lastSeenAt = Math.floor(agent.last_seen_at ?? 0);
  const commands: ViewCommand[] = [['DEL', tasks]];
  for (const held of portions(agent.held)) {
    const fields = held.flatMap((run) => [run.task_id, Math.floor(run.assigned_at)]);
    commands.push(['HSET', tasks, ...fields]);
  }
  commands.push(
    agent.status === 'ERROR'
      ? ['ZADD', STALE_AGENTS, lastSeenAt, agent.id]
      : ['ZREM', STALE_AGENTS, agent.id],
  );
  if (agent.status === 'TERMINATED') return [...commands, ['DEL', status]];
  const current = agent.held.at(-1);
  commands.push(['HSET', status, 'status', agent.status]);
  commands.push(
    current ? ['HSET', status, 'current_task', current.task_id] : ['HDEL', status, 'current_task'],
  );
  // The path of heartbeats may know a later one.
  if (lastSeenAt > 0) commands.push(['HSETNEWER', status, 'last_heartbeat', lastSeenAt]);
  return commands;
}

/** The first due is at the tail, where RPOP takes it. */
export function commandsOfRetries({ workspace_id: workspaceId, tasks }: RetryRow): ViewCommand[] {
  const key = `coordinator:recovery_queue:${workspaceId}`;
  return [['DEL', key], ...portions(tasks).map((ids) => ['LPUSH', key, ...ids] as const)];
}

/** Whether a key is one of the views that are written here, without its prefix. */
export function isView(key: string): boolean {
  return /^(?:tasks:(?:pending|active):|agent:(?:tasks|status):|session:context:|coordinator:(?:stale_agents$|recovery_queue:))/.test(
    key,
  );
}

function contextKey(session: string): string {
  return `session:context:${session}`;
}

function portions<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / AT_ONCE);
  return Array.from({ length: count }, (_, at) => all.slice(at * AT_ONCE, (at + 1) * AT_ONCE));
}
