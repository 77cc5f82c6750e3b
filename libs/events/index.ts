export { messagesOf } from './domain/message.js';
export { EventsModule } from './events.module.js';
