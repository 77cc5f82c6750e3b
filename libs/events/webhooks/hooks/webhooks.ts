import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type SqlRunner } from '#lib/database';
import { type HookOwner, lockHookCreator } from '#lib/identity';
import { type Caller, DroverError, newId, type Page, redactText, toPage } from '#lib/kernel';
import { type SignerPlace, WebhookSecrets } from '#lib/secrets';
import type { Kind } from '../domain/kinds.js';
import { type NoticeRequest, settingsErrors, settingsOf } from '../domain/notice-settings.js';
import { releaseHeld } from '../store/sending.sql.js';
import { setDue } from '../store/deliveries.sql.js';
import { refused, type Target, type TargetRequest, Targets } from './targets.js';
import {
  changeWebhook,
  deleteWebhook,
  findWebhook,
  handOverWebhooks,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  lockWebhooks,
  type WebhookRow,
} from '../store/webhooks.sql.js';
import { toWebhookView, type WebhookView } from './webhook-view.js';

/** Maximum number of messages that are released at once when quiet hours change. */
const MAX_RELEASED = 10_000;

export interface WebhookRequest extends NoticeRequest, TargetRequest {
  kind?: Kind;
  events: string[];
  description?: string | null;
  hubSignature?: boolean;
}

export type WebhookChange = Partial<Omit<WebhookRequest, 'kind'>> & { enabled?: boolean };

/** Manages webhooks. Their messages are sent elsewhere. */
@Injectable()
export class Webhooks implements HookOwner {
  readonly kind = 'webhook';

  constructor(
    private readonly database: Database,
    private readonly secrets: WebhookSecrets,
    private readonly targets: Targets,
    @Inject(CONFIG) private readonly config: Pick<Config, 'webhooks'>,
  ) {}

  /**
   * @returns includes the signing secret, only this once; null if messages are not signed
   * @throws DroverError `validation_failed`, `webhook_limit`
   */
  async create(
    caller: Caller,
    request: WebhookRequest,
  ): Promise<WebhookView & { secret: string | null }> {
    const { workspaceId } = caller;
    const { kind = 'signed' } = request;
    refuseSettings(kind, request);
    const target = await this.targets.of(workspaceId, kind, request);
    const id = newId();
    const values = valuesOf(NEW, request, target, settingsOf(kind, request));
    const limit = this.config.webhooks.maxPerWorkspace;
    return this.database.tenant(workspaceId).transaction(async (tx) => {
      const creator = await lockHookCreator(tx, caller);
      await tx.rows(lockWebhooks, [workspaceId]);
      const row = [workspaceId, id, ...values, kind, limit, creator];
      if (!(await firstRow(tx, insertWebhook, row))) {
        throw new DroverError('webhook_limit', { members: { limit } });
      }
      const place = { workspaceId, id };
      const secret = kind === 'signed' ? await this.secrets.create(tx, place) : null;
      await this.keep(tx, place, target.secretUrl);
      return { ...toWebhookView(await found(tx, workspaceId, id)), secret };
    });
  }

  /** Oldest first. */
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
   * Messages of a disabled webhook wait on. Events that happen meanwhile are not stored for it.
   *
   * @throws DroverError `webhook_not_found`, `version_mismatch`, `validation_failed`
   */
  async change(
    caller: Caller,
    id: string,
    change: WebhookChange,
    version?: number,
  ): Promise<WebhookView> {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const changed = await tenant.transaction(async (tx) => {
      await lockHookCreator(tx, caller);
      const row = await locked(tx, workspaceId, id);
      if (version !== undefined && version !== row.version) {
        throw new DroverError('version_mismatch');
      }
      await this.write(tx, { workspaceId, id }, row, change);
      return found(tx, workspaceId, id);
    });
    return toWebhookView(changed);
  }

  private async write(
    tx: SqlRunner,
    place: SignerPlace,
    row: WebhookRow,
    change: WebhookChange,
  ): Promise<void> {
    refuseSettings(row.kind, change);
    const { workspaceId, id } = place;
    const isMoved = change.url !== undefined || change.recipients !== undefined;
    const target = isMoved ? await this.targets.of(workspaceId, row.kind, change) : row;
    const notice = settingsOf(row.kind, change, row.notice);
    const { enabled = row.disabled_at === null } = change;
    const values = valuesOf(row, change, target, notice);
    const stays = !isMoved || (row.kind === 'signed' && target.url === row.url);
    await tx.rows(changeWebhook, [workspaceId, id, ...values, enabled, stays]);
    if ('secretUrl' in target) await this.keep(tx, place, target.secretUrl);
    if (change.quietHours === undefined) return;
    await tx.rows(releaseHeld, [workspaceId, id, MAX_RELEASED]);
    await tx.rows(setDue, [workspaceId, id]);
  }

  private async keep(tx: SqlRunner, place: SignerPlace, url: string | undefined): Promise<void> {
    if (url !== undefined) await this.secrets.write(tx, place, url);
  }

  /** For a creator who loses the right to webhooks. */
  async handOver(
    tx: SqlRunner,
    { workspaceId, userId, keep }: { workspaceId: string; userId: string; keep: boolean },
  ): Promise<{ id: string; description: string | null }[]> {
    return tx.rows(handOverWebhooks, [workspaceId, userId, keep]);
  }

  /** @throws DroverError `webhook_not_found` */
  async remove({ workspaceId }: Caller, id: string): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    if (!(await firstRow(tenant, deleteWebhook, [workspaceId, id]))) throw notFound();
  }

  /**
   * Creates a new signing secret. For 24 hours the previous one also signs each message.
   *
   * @returns the secret, only this once
   * @throws DroverError `webhook_not_found`, `webhook_unsigned`
   */
  async rotate({ workspaceId }: Caller, id: string): Promise<WebhookView & { secret: string }> {
    return this.database.tenant(workspaceId).transaction(async (tx) => {
      const { kind } = await locked(tx, workspaceId, id);
      if (kind !== 'signed') throw new DroverError('webhook_unsigned');
      const secret = await this.secrets.rotate(tx, { workspaceId, id });
      return { ...toWebhookView(await found(tx, workspaceId, id)), secret };
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

/** The defaults of a webhook. */
const NEW = { events: [], description: null, hub_signature: false };

function valuesOf(
  row: Pick<WebhookRow, 'events' | 'description' | 'hub_signature'>,
  change: Partial<WebhookRequest>,
  { url, recipients }: Target,
  notice: unknown,
): unknown[] {
  const { events = row.events, description = row.description } = change;
  const { hubSignature = row.hub_signature } = change;
  const settings = notice === null ? null : JSON.stringify(notice);
  return [url, distinct(events), told(description), hubSignature, recipients, settings];
}

/** @throws DroverError `validation_failed` */
function refuseSettings(kind: Kind, request: Partial<WebhookRequest>): void {
  const errors = settingsErrors(kind, request);
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
  if (kind !== 'signed' && request.hubSignature)
    throw refused('hubSignature', 'is for signed ones');
}

const distinct = (events: readonly string[]): string[] => [...new Set(events)];
const told = (text: string | null): string | null => (text === null ? null : redactText(text));
const notFound = (): DroverError => new DroverError('webhook_not_found');
