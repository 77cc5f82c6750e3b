export * from './domain/index.js';
export type { Consumer, Work } from './consumer-loop.js';
export { describeEvents } from './openapi.js';
export { EventsModule } from './events.module.js';
export { type Follower, JournalTail, type Stretch } from './journal-tail.js';
export { EventRelay } from './relay.js';
