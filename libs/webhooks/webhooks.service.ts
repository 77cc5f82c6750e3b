import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type SqlRunner } from '#lib/database';
import { type Caller, DroverError, newId, type Page, redactText, toPage } from '#lib/kernel';
import { WebhookSecrets } from '#lib/secrets';
import { newSecret } from './domain/signature.js';
import type { Refusal } from './domain/target.js';
import { WebhookClient } from './sending/webhook-client.js';
import {
  changeWebhook,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  lockWebhooks,
  type WebhookRow,
} from './store/webhooks.sql.js';
import { toWebhookView, type WebhookView } from './webhook-view.js';

/** Seconds for which the secret before stays valid. */
const ROTATION_SECONDS = 86_400;

export interface WebhookRequest {
  url: string;
  events: string[];
  description?: string | null;
  hubSignature?: boolean;
}

export type WebhookChange = Partial<WebhookRequest> & { enabled?: boolean };

const WORDS: Record<Refusal, string> = {
  malformed: 'must be a URL',
  scheme: 'must be an https:// URL, or lead to WEBHOOK_ALLOWED_NETWORKS of the server',
  userinfo: 'must not hold a user name or a password',
  fragment: 'must not have a fragment',
  port: 'must have the port 443 or 8443',
  internal_name: 'must have a host name that is public',
  internal_address: 'must not lead to an address that is not public',
};

/** Webhooks: made, changed, ended, read. What is sent to them is not here. */
@Injectable()
export class Webhooks {
  constructor(
    private readonly database: Database,
    private readonly secrets: WebhookSecrets,
    private readonly client: WebhookClient,
    @Inject(CONFIG) private readonly config: Pick<Config, 'webhooks'>,
  ) {}

  /**
   * @returns the signing secret as well, this once
   * @throws DroverError `validation_failed`, `webhook_limit`
   */
  async create(
    { workspaceId }: Caller,
    request: WebhookRequest,
  ): Promise<WebhookView & { secret: string }> {
    this.refuseTarget(request.url);
    const { url, events, description = null, hubSignature = false } = request;
    const [id, secret, limit] = [newId(), newSecret(), this.config.webhooks.maxPerWorkspace];
    const params = [workspaceId, id, url, distinct(events), told(description), hubSignature, limit];
    const made = await this.database.tenant(workspaceId).transaction(async (tx) => {
      await tx.rows(lockWebhooks, [workspaceId]);
      if (!(await firstRow(tx, insertWebhook, params))) {
        throw new DroverError('webhook_limit', { members: { limit } });
      }
      await this.secrets.write(tx, { workspaceId, id }, secret);
      return found(tx, workspaceId, id);
    });
    return { ...toWebhookView(made), secret };
  }

  /** The oldest first. */
  async list(
    { workspaceId }: Caller,
    page: { after: string | null; limit: number },
  ): Promise<Page<WebhookView>> {
    const params = [workspaceId, page.after, page.limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(listWebhooks, params);
    return toPage(rows, page.limit, ({ id }) => [id], toWebhookView);
  }

  /** @throws DroverError `webhook_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<WebhookView> {
    return toWebhookView(await found(this.database.tenant(workspaceId), workspaceId, id));
  }

  /**
   * What waits for a webhook that is disabled waits on; events that come meanwhile are not kept for it.
   *
   * @throws DroverError `webhook_not_found`, `version_mismatch`, `validation_failed`
   */
  async change(
    { workspaceId }: Caller,
    id: string,
    change: WebhookChange,
    version?: number,
  ): Promise<WebhookView> {
    if (change.url !== undefined) this.refuseTarget(change.url);
    const changed = await this.database.tenant(workspaceId).transaction(async (tx) => {
      const row = await locked(tx, workspaceId, id);
      if (version !== undefined && version !== row.version) {
        throw new DroverError('version_mismatch');
      }
      await tx.rows(changeWebhook, [workspaceId, id, ...valuesOf(row, change)]);
      return found(tx, workspaceId, id);
    });
    return toWebhookView(changed);
  }

  /** @throws DroverError `webhook_not_found` */
  async remove({ workspaceId }: Caller, id: string): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    if (!(await firstRow(tenant, deleteWebhook, [workspaceId, id]))) throw notFound();
  }

  /**
   * A new signing secret. For 24 hours each message is signed with the one before, too.
   *
   * @returns the secret, this once
   * @throws DroverError `webhook_not_found`
   */
  async rotate({ workspaceId }: Caller, id: string): Promise<WebhookView & { secret: string }> {
    const secret = newSecret();
    const place = { workspaceId, id };
    const row = await this.database.tenant(workspaceId).transaction(async (tx) => {
      await locked(tx, workspaceId, id);
      await this.secrets.rotate(tx, place, secret, ROTATION_SECONDS);
      return found(tx, workspaceId, id);
    });
    return { ...toWebhookView(row), secret };
  }

  private refuseTarget(url: string): void {
    const judgement = this.client.guard.judgeUrl(url);
    if (judgement.kind === 'accepted') return;
    throw new DroverError('validation_failed', {
      errors: [{ field: 'url', message: WORDS[judgement.why] }],
    });
  }
}

/** @throws DroverError `webhook_not_found` */
export async function locked(
  runner: SqlRunner,
  workspaceId: string,
  id: string,
): Promise<WebhookRow> {
  const row = await firstRow(runner, lockWebhook, [workspaceId, id]);
  if (!row) throw notFound();
  return row;
}

/** @throws DroverError `webhook_not_found` */
export async function found(
  runner: SqlRunner,
  workspaceId: string,
  id: string,
): Promise<WebhookRow> {
  const row = await firstRow(runner, findWebhook, [workspaceId, id]);
  if (!row) throw notFound();
  return row;
}

function valuesOf(row: WebhookRow, change: WebhookChange): unknown[] {
  const { url = row.url, events = row.events, description = row.description } = change;
  const { hubSignature = row.hub_signature, enabled = row.disabled_at === null } = change;
  return [url, distinct(events), told(description), hubSignature, enabled];
}

const distinct = (events: readonly string[]): string[] => [...new Set(events)];
const told = (text: string | null): string | null => (text === null ? null : redactText(text));
const notFound = (): DroverError => new DroverError('webhook_not_found');
