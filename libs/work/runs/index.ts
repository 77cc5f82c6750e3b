export { type ClaimWaiter, ClaimWaiters } from './claims/claim-waiters.js';
export { ClaimService } from './claims/claim.service.js';
export { RunMessages } from './messages/run-messages.js';
export { refuseReport } from './reports/report-replay.js';
export { type Reporter, reporterOf } from './reports/reporter.js';
export { type Checkpoint, RunSecrets } from './reports/run-secrets.js';
export { RunReports } from './reports/run-reports.js';
export { RunsModule } from './runs.module.js';
export { GatewayReach } from './sessions/gateway/gateway-reach.js';
export { SessionsModule } from './sessions/sessions.module.js';
export { SessionAssigner } from './sessions/spawning/session-assigner.js';
export { type SpawnFacts, SpawnObstacles } from './sessions/spawning/spawn-obstacles.js';
export {
  AGENT_HOLDS,
  type AgentHold,
  hasRoom,
  heldBackBy,
  type HoldCode,
  mayBeHandedOut,
  OFFER,
  scopeOf,
  takesType,
  takesWork,
  workspaceHandsOut,
} from './store/hand-out.sql.js';
export { hasSession, isKeptByReports } from './leases/session-lease.sql.js';
export {
  announceConflicts,
  type ConflictRow,
  namesTaskOfAnother,
  noteConflictsOfHeartbeats,
  provesWorkAfter,
} from './store/conflicts.sql.js';
