export { AgentManagerModule } from './agent-manager.module.js';
export { type AgentListRequest, AgentManagerService } from './agents/agent-manager.service.js';
export type { Registration, AgentRequest } from './agents/agent-registration.js';
export { AGENT_MODES, type AgentMode, type AgentView } from './domain/agent-view.js';
export { CAPABILITY, capabilityKey, normalizeCapabilities } from './domain/capabilities.js';
export type { AgentHealth, HealthStatus } from './domain/health.js';
export { requireSelf } from './domain/require-self.js';
export { AgentDoc } from './http/dto/agent.docs.js';
export { HeartbeatFlusher } from './heartbeats/heartbeat-flusher.js';
export { isInCooldown, startCooldown, endCooldown } from './store/cooldown.sql.js';
export { revivePushAgents } from './store/revive-push-agents.sql.js';
export {
  isUnresponsive,
  markAgentsStale,
  staleAgents,
  type StaleAgentRow,
} from './store/stale-agents.sql.js';
export { lockAgent } from './store/find-agent.sql.js';
