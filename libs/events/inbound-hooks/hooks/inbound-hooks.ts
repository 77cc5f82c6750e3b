import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type SqlRunner } from '#lib/database';
import { validateDto } from '#lib/http';
import { type HookOwner, lockHookCreator } from '#lib/identity';
import { type Caller, DroverError, newId, type Page, redactText, toPage } from '#lib/kernel';
import { InboundHookSecrets } from '#lib/secrets';
import { CreateTaskDto } from '#lib/task-manager';
import { checkRules } from '../domain/check-rules.js';
import type { HookRule } from '../domain/rules.js';
import type { HookKind } from '../domain/signature.js';
import {
  type InboundDeliveryView,
  type InboundHookView,
  toDeliveryView,
  toHookView,
} from './hook-view.js';
import { listInboundDeliveries } from '../store/deliveries.sql.js';
import {
  changeInboundHook,
  deleteInboundHook,
  findInboundHook,
  handOverInboundHooks,
  type InboundHookRow,
  insertInboundHook,
  listInboundHooks,
  lockInboundHook,
  lockInboundHooks,
} from '../store/hooks.sql.js';

export interface InboundHookRequest {
  kind: HookKind;
  rules: HookRule[];
  description?: string | null;
}

export type InboundHookChange = Partial<Omit<InboundHookRequest, 'kind'>> & { enabled?: boolean };

interface PageRequest {
  after: string | null;
  limit: number;
}

/** Manages inbound hooks. Their events are received elsewhere. */
@Injectable()
export class InboundHooks implements HookOwner {
  readonly kind = 'inbound_hook';

  constructor(
    private readonly database: Database,
    private readonly secrets: InboundHookSecrets,
    @Inject(CONFIG) private readonly config: Pick<Config, 'webhooks'>,
  ) {}

  /**
   * @returns includes the secret, only this once
   * @throws DroverError `validation_failed`, `inbound_hook_limit`
   */
  async create(
    caller: Caller,
    { kind, rules, description = null }: InboundHookRequest,
  ): Promise<InboundHookView & { secret: string }> {
    checkRules(rules, validateTask);
    const { workspaceId } = caller;
    const [id, limit] = [newId(), this.config.webhooks.maxPerWorkspace];
    const told = description === null ? null : redactText(description);
    return this.database.tenant(workspaceId).transaction(async (tx) => {
      const creator = await lockHookCreator(tx, caller);
      await tx.rows(lockInboundHooks, [workspaceId]);
      const params = [workspaceId, id, kind, told, JSON.stringify(rules), creator, limit];
      if (!(await firstRow(tx, insertInboundHook, params))) {
        throw new DroverError('inbound_hook_limit', { members: { limit } });
      }
      const secret = await this.secrets.create(tx, { workspaceId, id });
      return { ...toHookView(await found(tx, workspaceId, id)), secret };
    });
  }

  /** Oldest first. */
  async list({ workspaceId }: Caller, page: PageRequest): Promise<Page<InboundHookView>> {
    const params = [workspaceId, page.after, page.limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(listInboundHooks, params);
    return toPage(rows, page.limit, ({ id }) => [id], toHookView);
  }

  /** @throws DroverError `inbound_hook_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<InboundHookView> {
    return toHookView(await found(this.database.tenant(workspaceId), workspaceId, id));
  }

  /** @throws DroverError `inbound_hook_not_found`, `version_mismatch`, `validation_failed` */
  async change(
    caller: Caller,
    id: string,
    change: InboundHookChange,
    version?: number,
  ): Promise<InboundHookView> {
    const { workspaceId } = caller;
    if (change.rules !== undefined) checkRules(change.rules, validateTask);
    const changed = await this.database.tenant(workspaceId).transaction(async (tx) => {
      await lockHookCreator(tx, caller);
      const row = await locked(tx, workspaceId, id);
      if (version !== undefined && version !== row.version) {
        throw new DroverError('version_mismatch');
      }
      const { rules = row.rules, description = row.description } = change;
      const { enabled = row.disabled_at === null } = change;
      const told = description === null ? null : redactText(description);
      await tx.rows(changeInboundHook, [workspaceId, id, told, JSON.stringify(rules), enabled]);
      return found(tx, workspaceId, id);
    });
    return toHookView(changed);
  }

  /** For a creator who loses the right to inbound hooks. */
  async handOver(
    tx: SqlRunner,
    { workspaceId, userId, keep }: { workspaceId: string; userId: string; keep: boolean },
  ): Promise<{ id: string; description: string | null }[]> {
    return tx.rows(handOverInboundHooks, [workspaceId, userId, keep]);
  }

  /** @throws DroverError `inbound_hook_not_found` */
  async remove({ workspaceId }: Caller, id: string): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    if (!(await firstRow(tenant, deleteInboundHook, [workspaceId, id]))) throw notFound();
  }

  /**
   * Creates a new secret. Events signed with the previous one are accepted for 24 more hours.
   *
   * @returns the secret, only this once
   * @throws DroverError `inbound_hook_not_found`
   */
  async rotate({ workspaceId }: Caller, id: string): Promise<InboundHookView & { secret: string }> {
    return this.database.tenant(workspaceId).transaction(async (tx) => {
      await locked(tx, workspaceId, id);
      const secret = await this.secrets.rotate(tx, { workspaceId, id });
      return { ...toHookView(await found(tx, workspaceId, id)), secret };
    });
  }

  /**
   * The results of the hook's events, newest first. @throws DroverError `inbound_hook_not_found`
   */
  async deliveries(
    { workspaceId }: Caller,
    id: string,
    { after, limit }: PageRequest,
  ): Promise<Page<InboundDeliveryView>> {
    const tenant = this.database.tenant(workspaceId);
    await found(tenant, workspaceId, id);
    const rows = await tenant.rows(listInboundDeliveries, [workspaceId, id, after, limit + 1]);
    return toPage(rows, limit, (row) => [row.id], toDeliveryView);
  }
}

function validateTask(task: unknown): void {
  validateDto(CreateTaskDto, task);
}

async function locked(runner: SqlRunner, workspaceId: string, id: string): Promise<InboundHookRow> {
  const row = await firstRow(runner, lockInboundHook, [workspaceId, id]);
  if (!row) throw notFound();
  return row;
}

async function found(runner: SqlRunner, workspaceId: string, id: string): Promise<InboundHookRow> {
  const row = await firstRow(runner, findInboundHook, [workspaceId, id]);
  if (!row) throw notFound();
  return row;
}

const notFound = (): DroverError => new DroverError('inbound_hook_not_found');
