export {
  CATALOGUE,
  type CataloguedEvent,
  ENVELOPE,
  type EventBody,
  EVENT_NAMES,
  type EventName,
  exampleOf,
} from './catalogue.js';
export { EVENT_FILTERS, NAME_FILTERS, wants } from './event-filters.js';
export { type Message, messagesOf } from './message.js';
export { SHORT_WORDS, taskWord } from './short-message.js';
export type { NumberedMessage } from './channel.js';
