import { Module, type OnModuleInit } from '@nestjs/common';
import { Channels } from './consuming/channels.js';
import { JournalTail } from './reading/journal-tail.js';
import { EventPruner } from './partitions/event-pruner.js';
import { EventRelay } from './consuming/event-relay.js';

/** Needs the global modules of configuration, database, Valkey and observability. */
@Module({
  providers: [Channels, EventRelay, EventPruner, JournalTail],
  exports: [EventRelay, EventPruner, JournalTail],
})
export class EventsModule implements OnModuleInit {
  constructor(
    private readonly relay: EventRelay,
    private readonly channels: Channels,
  ) {}

  onModuleInit(): void {
    this.relay.add(this.channels);
  }
}
