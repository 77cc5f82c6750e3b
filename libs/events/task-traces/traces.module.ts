import { Module, type OnModuleInit } from '@nestjs/common';
import { EventRelay, EventsModule } from '#lib/journal';
import { Tracing } from '#lib/observability';
import { TraceConsumer } from './consuming/trace-consumer.js';

/** Traces of tasks, if an OpenTelemetry collector is configured. */
@Module({ imports: [EventsModule], providers: [TraceConsumer] })
export class TracesModule implements OnModuleInit {
  constructor(
    private readonly relay: EventRelay,
    private readonly consumer: TraceConsumer,
    private readonly tracing: Tracing,
  ) {}

  onModuleInit(): void {
    if (this.tracing.on) this.relay.add(this.consumer);
    else this.relay.forget(this.consumer.name);
  }
}
