import { Module } from '@nestjs/common';
import { Channels } from './channels.js';
import { OutboxPruner } from './outbox-pruner.js';
import { OutboxRelay } from './outbox-relay.js';
import { RelayedBatch } from './relayed-batch.js';

/** Needs the global modules of configuration, database, Valkey and observability. */
@Module({
  providers: [Channels, RelayedBatch, OutboxRelay, OutboxPruner],
  exports: [OutboxRelay, OutboxPruner],
})
export class OutboxModule {}
