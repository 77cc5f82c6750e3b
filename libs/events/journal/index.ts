export * from './domain/index.js';
export type { Consumer, Turn, Work } from './consuming/consumer-loop.js';
export { describeEvents } from './openapi/openapi.js';
export { EventsModule } from './events.module.js';
export { type Follower, JournalTail, type Stretch } from './reading/journal-tail.js';
export { EventRelay } from './consuming/event-relay.js';
