import type { Agent } from '#lib/database';
import type { Sent } from '#lib/kernel';
import type { AgentLifecycle, AgentStatus } from '#lib/transitions/domain';

export const AGENT_MODES = ['pull', 'push'] as const;
export type AgentMode = (typeof AGENT_MODES)[number];

type Typed = 'mode' | 'lifecycle' | 'status' | 'metadata' | 'secrets';

/** An agent as read, with the time of its last heartbeat. */
export interface AgentRow extends Omit<Agent, 'setupFailures' | Typed> {
  mode: AgentMode;
  lifecycle: AgentLifecycle;
  status: AgentStatus;
  metadata: Record<string, unknown>;
  /** Their names with `[redacted]`. */
  secrets: Record<string, string>;
  lastSeenAt: Date | null;
  /** A registration and a claim are signs of life, and no heartbeats. */
  hasSentHeartbeat: boolean;
}

/** An agent in the API. Times are RFC 3339. AgentDto describes its fields. */
export type AgentView = Sent<Omit<AgentRow, 'lifecycle' | 'tokenVersion'>>;
