import { Module, type OnModuleInit } from '@nestjs/common';
import { InvitationMails, MemberHooks } from '#lib/identity';
import { EventRelay, EventsModule } from '#lib/journal';
import { WebhookConsumer } from './sending/webhook-consumer.js';
import { Deliveries } from './deliveries/deliveries.js';
import { DeliveriesController } from './http/deliveries.controller.js';
import { WebhooksController } from './http/webhooks.controller.js';
import { WebhookPruner } from './deliveries/webhook-pruner.js';
import { InvitationSender } from './sending/invitation-sender.js';
import { MailClient } from './sending/mail-client.js';
import { Messages } from './sending/messages.js';
import { Notices } from './sending/notices.js';
import { Recipients } from './sending/recipients.js';
import { WebhookSenders } from './sending/webhook-senders.js';
import { Settlement } from './sending/settlement.js';
import { SignedMessages } from './sending/signed-messages.js';
import { WebhookClient } from './sending/webhook-client.js';
import { Targets } from './hooks/targets.js';
import { Webhooks } from './hooks/webhooks.js';

/** Sends events to other systems. */
@Module({
  imports: [EventsModule],
  controllers: [WebhooksController, DeliveriesController],
  providers: [
    Webhooks,
    Deliveries,
    WebhookConsumer,
    Targets,
    WebhookClient,
    MailClient,
    InvitationSender,
    Recipients,
    SignedMessages,
    Notices,
    Messages,
    Settlement,
    WebhookSenders,
    WebhookPruner,
  ],
})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly relay: EventRelay,
    private readonly consumer: WebhookConsumer,
    private readonly webhooks: Webhooks,
    private readonly memberHooks: MemberHooks,
    private readonly invitationMails: InvitationMails,
    private readonly invitationSender: InvitationSender,
  ) {}

  onModuleInit(): void {
    this.relay.add(this.consumer);
    this.memberHooks.add(this.webhooks);
    this.invitationMails.use(this.invitationSender);
  }
}
