export * from './errors.js';
export { HeartbeatLoop, type ServerState } from './heartbeat-loop.js';
export { fetchOver } from './client/fetch-over.js';
export { allowWait, hostClient } from './client/host-client.js';
export {
  LiveSession,
  type Running,
  type SessionRecord as HostedRecord,
  type StopCause,
  type Stopping,
} from './sessions/live-session.js';
export { LongTimer } from './long-timer.js';
export {
  isolate,
  type Isolation,
  SANDBOX_VARIABLES,
  sandboxSettings,
  type SandboxSettings,
} from './isolation.js';
export { type HostLog, Log, LOG_LEVELS } from './log.js';
export { HostMetrics, serveMetrics } from './metrics.js';
export { Outbox, type Reports } from './outbox.js';
export { Failures, pause, retrying } from './retry.js';
export { recoverSessions, removeUnknownSessions } from './sessions/recover-sessions.js';
export { SessionHost } from './sessions/session-host.js';
export { type Remembered, SessionMemory } from './sessions/session-memory.js';
export { apiAddress, searchPathOf, variablesOf } from './settings.js';
export { SignalLoop, type SignalPoll } from './signal-loop.js';
export { readJson, takeOver, writeJson } from './state-file.js';
export { causeOf } from './sessions/stop-cause.js';
export { StopRequests } from './stop-requests.js';
export { readVersion } from './version.js';
