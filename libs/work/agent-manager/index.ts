export * from './domain/index.js';
export { AgentManagerModule } from './agent-manager.module.js';
export { AgentManagerService } from './agents/agent-manager.service.js';
export { prepareAssignment } from './agents/assignable-agents.js';
export { AgentDto } from './http/dto/agent-answers.dto.js';
export { Heartbeats, type HeartbeatListener } from './heartbeats/heartbeats.js';
export { HeartbeatFlusher } from './heartbeats/heartbeat-flusher.js';
export { HeartbeatWriter } from './heartbeats/heartbeat-writer.js';
export { WriteProbe } from './heartbeats/write-probe.js';
export { renewHeartbeatPartitions } from './agents/heartbeat-history.sql.js';
export { isInCooldown, startCooldown, endCooldown } from './store/cooldown.sql.js';
export { revivePushAgents } from './store/revive-push-agents.sql.js';
export {
  isUnresponsive,
  markAgentsStale,
  staleAgents,
  type StaleAgentRow,
} from './agents/stale-agents.sql.js';
export { SHORTEST_INTERVAL, SHORTEST_THRESHOLD, silentFor } from './agents/silent-for.sql.js';
