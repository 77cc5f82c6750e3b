import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { Logger } from '#lib/observability';
import { hubHeader, standardHeaders } from '../domain/signature.js';
import type { DueDelivery, Leased } from '../store/sending.sql.js';
import { messageId } from '../hooks/webhook-view.js';
import { traceparentsOf } from './traceparents.js';
import type { Made } from './turn.js';
import { UNREADABLE, WebhookClient } from './webhook-client.js';

/** Messages for programs: each event unchanged and signed. */
@Injectable()
export class SignedMessages {
  constructor(
    private readonly client: WebhookClient,
    private readonly database: Database,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tracesTo'>,
  ) {}

  /**
   * @param secrets the current one first
   */
  async send(leased: Leased, secrets: readonly string[]): Promise<Made[]> {
    const traces = await this.tracesOf(leased);
    const send = (delivery: DueDelivery) =>
      this.sendOne(leased, delivery, { secrets, traceparent: traces.get(delivery.event_id) });
    return Promise.all(leased.deliveries.map(send));
  }

  private async tracesOf(leased: Leased): Promise<Map<string, string>> {
    if (this.config.tracesTo === undefined) return new Map();
    try {
      return await traceparentsOf(this.database.service, leased);
    } catch (error) {
      // A message without a trace is better than none.
      this.logger.warn('webhooks sent without their traces', { webhookId: leased.id, error });
      return new Map();
    }
  }

  private async sendOne(
    { id, url, hub_signature }: Leased,
    delivery: DueDelivery,
    { secrets, traceparent }: { secrets: readonly string[]; traceparent: string | undefined },
  ): Promise<Made> {
    const startedAt = new Date();
    if (secrets.length === 0) return { ...UNREADABLE, delivery, startedAt };
    const body = delivery.payload ?? '';
    const timestamp = Math.floor(startedAt.getTime() / 1_000);
    const message = { id: messageId(id, delivery.event_id), timestamp, body };
    const headers = {
      'content-type': 'application/json',
      ...standardHeaders(message, secrets),
      ...(hub_signature ? hubHeader(body, secrets[0] ?? '') : {}),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    const attempt = await this.client.send({ kind: 'signed', url, headers, body });
    return { ...attempt, delivery, startedAt };
  }
}
