import { Injectable } from '@nestjs/common';
import { instruments } from '#lib/observability';
import type { Leased } from '../store/sending.sql.js';
import { MailClient } from './mail-client.js';
import { isNotice, Notices, type Sent } from './notices.js';
import { SignedMessages } from './signed-messages.js';
import { WebhookClient } from './webhook-client.js';

/** Sends the due messages of a webhook according to its kind. */
@Injectable()
export class Messages {
  constructor(
    private readonly signed: SignedMessages,
    private readonly notices: Notices,
    private readonly client: WebhookClient,
    private readonly mail: MailClient,
  ) {}

  /**
   * @param secrets signing secrets, the current one first, or the URL if it is secret
   */
  async send(leased: Leased, secrets: readonly string[]): Promise<Sent> {
    const sent = isNotice(leased)
      ? await this.notices.send(leased, secrets[0])
      : { made: await this.signed.send(leased, secrets) };
    // Joined messages were one attempt.
    for (const { outcome } of isNotice(leased) ? sent.made.slice(0, 1) : sent.made) {
      const label = outcome.kind === 'unanswered' ? outcome.error : outcome.kind;
      instruments.webhookAttempts.inc({ outcome: label });
    }
    return sent;
  }

  /** Ends running attempts. */
  async close(): Promise<void> {
    this.mail.close();
    await this.client.close();
  }
}
