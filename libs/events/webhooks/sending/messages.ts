import { Injectable } from '@nestjs/common';
import { instruments } from '#lib/observability';
import type { Leased } from '../store/sending.sql.js';
import { MailClient } from './mail-client.js';
import { isNotice, Notices, type Sent } from './notices.js';
import { SignedMessages } from './signed-messages.js';
import { WebhookClient } from './webhook-client.js';

/** Sends what is due of a webhook, as its kind has it. */
@Injectable()
export class Messages {
  constructor(
    private readonly signed: SignedMessages,
    private readonly notices: Notices,
    private readonly client: WebhookClient,
    private readonly mail: MailClient,
  ) {}

  /** @param secrets signing secrets, the current one first, or the URL where that is the secret */
  async send(leased: Leased, secrets: readonly string[]): Promise<Sent> {
    const sent = isNotice(leased)
      ? await this.notices.send(leased, secrets[0])
      : { made: await this.signed.send(leased, secrets) };
    // What was joined was one attempt.
    for (const { outcome } of isNotice(leased) ? sent.made.slice(0, 1) : sent.made) {
      const label = outcome.kind === 'unanswered' ? outcome.error : outcome.kind;
      instruments.webhookAttempts.inc({ outcome: label });
    }
    return sent;
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.mail.close();
    await this.client.close();
  }
}
