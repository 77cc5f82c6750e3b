/** From the least to the most severe. */
export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogFilter {
  /** The levels to show. Default: all. */
  levels?: readonly LogLevel[];
  event?: string;
  order: 'asc' | 'desc';
  /**
   * Oldest first, whatever `order` says, without entries that a slower transaction could still
   * precede.
   */
  follow: boolean;
  /** For a follower: no transaction can precede entries up to this id. */
  settled?: string;
}

/** The level and those above it. */
export function atLeast(level: LogLevel): readonly LogLevel[] {
  return LOG_LEVELS.slice(LOG_LEVELS.indexOf(level));
}

/** One entry of a task's log in the API. */
export interface LogView {
  id: string;
  taskId: string;
  runId: string | null;
  agentId: string | null;
  level: LogLevel;
  /** `state_transition`, `task_created`, `task_updated`, `output` … */
  event: string;
  /**
   * One word for the event: `task_assigned`, `task_recovery` …, or the event itself if it is no
   * transition.
   */
  action: string;
  message: string | null;
  details: unknown;
  /** The version after the entry. Null for entries without a change of version. */
  taskVersion: number | null;
  previousStatus: string | null;
  newStatus: string | null;
  actor: { kind: string; id: string | null };
  sessionKey: string | null;
  stackTrace: string | null;
  createdAt: string;
}
