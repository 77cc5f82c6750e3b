/** From the least to the most severe. */
export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogFilter {
  /** The levels to show; all when it is left out. */
  levels?: readonly LogLevel[];
  event?: string;
  order: 'asc' | 'desc';
  /** The oldest first, whatever `order` says, and no entry that a slower one could still precede. */
  follow: boolean;
}

/** The level and those above it. */
export function atLeast(level: LogLevel): readonly LogLevel[] {
  return LOG_LEVELS.slice(LOG_LEVELS.indexOf(level));
}

/** One entry of a task's log, as the API shows it. */
export interface LogView {
  id: string;
  taskId: string;
  runId: string | null;
  agentId: string | null;
  level: LogLevel;
  /** `state_transition`, `task_created`, `task_updated`, `output` … */
  event: string;
  /** One word for what happened: `task_assigned`, `task_recovery` …; the event, where it is no transition. */
  action: string;
  message: string | null;
  details: unknown;
  /** The version that the entry brought the task to; null for entries that changed none. */
  taskVersion: number | null;
  previousStatus: string | null;
  newStatus: string | null;
  actor: { kind: string; id: string | null };
  sessionKey: string | null;
  stackTrace: string | null;
  createdAt: string;
}
