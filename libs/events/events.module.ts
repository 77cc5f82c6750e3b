import { Module } from '@nestjs/common';
import { Channels } from './channels.js';
import { EventPruner } from './pruner.js';
import { EventRelay } from './relay.js';

/** Needs the global modules of configuration, database, Valkey and observability. */
@Module({
  providers: [Channels, EventRelay, EventPruner],
  exports: [EventRelay, EventPruner],
})
export class EventsModule {}
