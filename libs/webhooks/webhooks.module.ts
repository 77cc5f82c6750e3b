import { Module, type OnModuleInit } from '@nestjs/common';
import { EventRelay, EventsModule } from '#lib/events';
import { WebhookConsumer } from './consumer.js';
import { Deliveries } from './deliveries.service.js';
import { DeliveriesController } from './http/deliveries.controller.js';
import { WebhooksController } from './http/webhooks.controller.js';
import { WebhookPruner } from './pruner.js';
import { WebhookSenders } from './sending/senders.js';
import { Settlement } from './sending/settlement.js';
import { WebhookClient } from './sending/webhook-client.js';
import { Webhooks } from './webhooks.service.js';

/** Sends events to the systems of others. */
@Module({
  imports: [EventsModule],
  controllers: [WebhooksController, DeliveriesController],
  providers: [
    Webhooks,
    Deliveries,
    WebhookConsumer,
    WebhookClient,
    Settlement,
    WebhookSenders,
    WebhookPruner,
  ],
})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly relay: EventRelay,
    private readonly consumer: WebhookConsumer,
  ) {}

  onModuleInit(): void {
    this.relay.add(this.consumer);
  }
}
