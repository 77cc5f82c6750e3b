export { Channels } from './channels.js';
export { channelOf, type NumberedMessage, textOf } from './domain/channel.js';
export { type Message, messagesOf } from './domain/message.js';
export { EventsModule } from './events.module.js';
export { JournalCursor } from './journal-cursor.js';
export { EventPruner } from './pruner.js';
export { EventRelay } from './relay.js';
