export { type ValkeyOptions } from './connection.js';
export { type Heartbeat, heartbeatTtlSeconds, HeartbeatStore } from './heartbeat-store.js';
export { type Attempt, ValkeyClient, type ValkeyState } from './valkey-client.js';
export { type LockOptions, type LockState, ValkeyLock } from './valkey-lock.js';
export { ValkeyModule } from './valkey.module.js';
export { type MessageListener, ValkeySubscriber } from './valkey-subscriber.js';
export { WakeUps } from './wake-ups.js';
