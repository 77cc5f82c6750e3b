export { type ValkeyOptions } from './connection.js';
export { heartbeatTtlSeconds, HeartbeatStore } from './heartbeat-store.js';
export { refusesChanges, ValkeyClient } from './valkey-client.js';
export { ValkeyLock } from './valkey-lock.js';
export { ValkeyModule } from './valkey.module.js';
export { ValkeySubscriber } from './valkey-subscriber.js';
export { WakeUps } from './wake-ups.js';
