export { Channels } from './channels.js';
export { channelOf, messageOf, type NumberedEvent } from './domain/message.js';
export { EventPruner } from './pruner.js';
export { EventRelay } from './relay.js';
export { RelayedBatch } from './relayed-batch.js';
export { EventsModule } from './events.module.js';
