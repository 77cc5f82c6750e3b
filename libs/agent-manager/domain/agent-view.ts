import type { AgentStatus } from '#lib/transitions';

export const AGENT_MODES = ['pull', 'push'] as const;
export type AgentMode = (typeof AGENT_MODES)[number];

/** An agent, as the API has it. Times are RFC 3339. */
export interface AgentView {
  id: string;
  workspaceId: string;
  name: string;
  mode: AgentMode;
  model: string | null;
  status: AgentStatus;
  capabilities: string[];
  coordinatorEnabled: boolean;
  maxConcurrentTasks: number;
  liveRuns: number;
  heartbeatIntervalSeconds: number;
  staleThresholdSeconds: number;
  hostName: string | null;
  pid: number | null;
  agentVersion: string | null;
  restartCount: number;
  metadata: Record<string, unknown>;
  /** What a session of a push agent runs; empty for others. */
  command: string[];
  /** Its command could not be started; it is given nothing until then, or until it is registered again. */
  restingUntil: string | null;
  lastSeenAt: string | null;
  terminationReason: string | null;
  drainingAt: string | null;
  errorAt: string | null;
  terminatedAt: string | null;
  version: number;
  createdBy: string | null;
  createdAt: string;
  updatedAt: string;
}
