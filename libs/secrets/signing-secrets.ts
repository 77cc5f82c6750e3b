import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '#lib/database';
import { instruments } from '#lib/observability';
import { type ColumnOfWebhook, openOriginal, sealWhole } from './domain/originals.js';
import { KeyRing } from './key-ring.js';
import { validWebhookSecrets, writeWebhookSecret } from './store/webhook-secrets.sql.js';

/** One webhook. */
export interface WebhookPlace {
  workspaceId: string;
  webhookId: string;
}

/** The signing secrets of webhooks: one, and the one before while it is still valid. */
@Injectable()
export class WebhookSecrets {
  constructor(private readonly ring: KeyRing) {}

  /** Behind the statement that makes the webhook, in its transaction. */
  async write(runner: SqlRunner, place: WebhookPlace, secret: string): Promise<void> {
    await this.writeColumn(runner, { ...place, column: 'secret' }, secret, null);
  }

  /**
   * Replaces the secret; the one before stays valid beside it. One that does not open any more is gone.
   *
   * @param seconds for which the one before stays valid
   */
  async rotate(
    runner: SqlRunner,
    place: WebhookPlace,
    secret: string,
    seconds: number,
  ): Promise<void> {
    const [before] = (await this.valid(runner, [place])).get(place.webhookId) ?? [];
    if (before !== undefined) {
      await this.writeColumn(runner, { ...place, column: 'previous_secret' }, before, seconds);
    }
    await this.write(runner, place, secret);
  }

  /** The valid secrets of each, the current one first; without those that do not open. */
  async valid(runner: SqlRunner, places: readonly WebhookPlace[]): Promise<Map<string, string[]>> {
    const params = [places.map((each) => each.workspaceId), places.map((each) => each.webhookId)];
    const opened = new Map<string, string[]>();
    for (const original of await runner.rows(validWebhookSecrets, params)) {
      const outcome = openOriginal(original, await this.ring.find(original.key_id));
      instruments.secrets.inc({ operation: outcome.kind });
      if (outcome.kind !== 'opened' || typeof outcome.value !== 'string') continue;
      const secrets = opened.get(original.webhook_id) ?? [];
      opened.set(original.webhook_id, [...secrets, outcome.value]);
    }
    return opened;
  }

  /** @throws DroverError `conflict_retry` when the key has gone meanwhile; see `KeyRing.explain` */
  private async writeColumn(
    runner: SqlRunner,
    { workspaceId, webhookId, column }: WebhookPlace & { column: ColumnOfWebhook['column_name'] },
    secret: string,
    seconds: number | null,
  ): Promise<void> {
    const key = await this.ring.current();
    const at = { workspace_id: workspaceId, webhook_id: webhookId, column_name: column };
    const sealed = JSON.stringify(sealWhole(key, secret, at));
    const params = [workspaceId, webhookId, column, key.id, sealed, seconds];
    await runner.rows(writeWebhookSecret, params).catch((error: unknown) => {
      throw this.ring.explain(error);
    });
    instruments.secrets.inc({ operation: 'sealed' });
  }
}
