export * from './client/errors.js';
export { HeartbeatLoop, type ServerState } from './loops/heartbeat-loop.js';
export { allowWait, currentApiUrl, hostClient, serverAddresses } from './client/host-client.js';
export {
  LiveSession,
  type Running,
  type SessionRecord as HostedRecord,
  type StopCause,
  type Stopping,
} from './sessions/live-session.js';
export { LongTimer } from './loops/long-timer.js';
export {
  isolate,
  type Isolation,
  SANDBOX_VARIABLES,
  sandboxSettings,
  type SandboxSettings,
} from './machine/isolation.js';
export { type HostLog, Log, LOG_LEVELS } from './machine/log.js';
export { HostMetrics, serveMetrics } from './machine/metrics.js';
export { Outbox, type Reports } from './client/outbox.js';
export { Failures, pause, RETRY_BACKOFF, retrying } from './client/retry.js';
export { recoverSessions, removeUnknownSessions } from './sessions/recover-sessions.js';
export { SessionHost } from './sessions/session-host.js';
export { type Remembered, SessionMemory } from './sessions/session-memory.js';
export { apiAddress, searchPathOf, variablesOf } from './machine/settings.js';
export { SignalLoop, type SignalPoll } from './loops/signal-loop.js';
export { OwnedElsewhere, readJson, takeOver, writeJson } from './machine/state-file.js';
export { causeOf } from './sessions/stop-cause.js';
export { StopRequests } from './loops/stop-requests.js';
