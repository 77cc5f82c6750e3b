export {
  CATALOGUE,
  type CataloguedEvent,
  ENVELOPE,
  type EventBody,
  EVENT_NAMES,
  type EventName,
  exampleOf,
} from './domain/catalogue.js';
export { EVENT_FILTERS, wants } from './domain/event-filters.js';
export { type Message, messagesOf } from './domain/message.js';
export { SHORT_WORDS, taskWord } from './domain/short-message.js';
export type { Consumer } from './consumer-loop.js';
export { describeEvents } from './openapi.js';
export { EventsModule } from './events.module.js';
export { type Follower, JournalTail, type Stretch } from './journal-tail.js';
export type { NumberedMessage } from './domain/channel.js';
export { EventRelay } from './relay.js';
