export { type ValkeyOptions } from './connection/connection.js';
export { heartbeatTtlSeconds, HeartbeatStore } from './heartbeats/heartbeat-store.js';
export { refusesChanges, ValkeyClient } from './connection/valkey-client.js';
export { ValkeyLock } from './connection/valkey-lock.js';
export { ValkeyModule } from './valkey.module.js';
export { ValkeySubscriber } from './connection/valkey-subscriber.js';
export { WakeUps } from './wake-ups/wake-ups.js';
