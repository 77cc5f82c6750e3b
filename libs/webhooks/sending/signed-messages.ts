import { Injectable } from '@nestjs/common';
import { hubHeader, standardHeaders } from '../domain/signature.js';
import type { DueDelivery, Leased } from '../store/sending.sql.js';
import { messageId } from '../webhook-view.js';
import type { Made } from './turn.js';
import { UNREADABLE, WebhookClient } from './webhook-client.js';

/** Messages for programs: each event as it is, signed. */
@Injectable()
export class SignedMessages {
  constructor(private readonly client: WebhookClient) {}

  /** @param secrets the current one first */
  send(leased: Leased, secrets: readonly string[]): Promise<Made[]> {
    return Promise.all(leased.deliveries.map((each) => this.sendOne(leased, each, secrets)));
  }

  private async sendOne(
    { id, url, hub_signature }: Leased,
    delivery: DueDelivery,
    secrets: readonly string[],
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
    };
    const attempt = await this.client.send({ kind: 'signed', url, headers, body });
    return { ...attempt, delivery, startedAt };
  }
}
