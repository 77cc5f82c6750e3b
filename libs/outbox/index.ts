export { Channels } from './channels.js';
export { channelOf, messageOf, type NumberedEvent } from './domain/message.js';
export { OutboxModule } from './outbox.module.js';
export { OutboxPruner } from './outbox-pruner.js';
export { OutboxRelay } from './outbox-relay.js';
export { RelayedBatch } from './relayed-batch.js';
