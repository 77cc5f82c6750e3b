import { Module } from '@nestjs/common';
import { EventsModule } from '#lib/journal';
import { IdentityModule } from '#lib/identity';
import { TaskManagerModule } from '#lib/task-manager';
import { EventStreams } from './streams/event-streams.js';
import { StreamsController } from './http/streams.controller.js';
import { LogStreams } from './streams/log-streams.js';
import { Streams } from './streams/streams.js';
import { Tickets } from './streams/tickets.js';

/** Streams of events and logs over HTTP. */
@Module({
  imports: [EventsModule, IdentityModule, TaskManagerModule],
  controllers: [StreamsController],
  providers: [Streams, EventStreams, LogStreams, Tickets],
})
export class StreamsModule {}
