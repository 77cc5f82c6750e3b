import { Injectable } from '@nestjs/common';
import { Database, firstRow, isUnknownTimeZone, violatedConstraint } from '#lib/database';
import { type IdempotencyRecord, storeAnswer } from '#lib/http';
import { type Caller, DroverError, newId, type Page, toPage } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import type { BudgetPolicy, BudgetScope, Recurrence } from '../domain/budget.js';
import { closeLedger } from '#lib/ledger';
import { type BudgetRow, findBudget } from '../store/budget.sql.js';
import { MAX_ALERTED, tellBudgetAlerts } from '../store/tell-budget-alerts.sql.js';
import { type BudgetView, toBudgetView } from './budget-view.js';
import { findScope, listBudgets } from './list-budgets.sql.js';
import {
  invalidField,
  ruleOf,
  validateChangedPeriod,
  validateNewPeriod,
} from './period-request.js';
import { lockBudgets, moveAllocation } from './move-allocation.sql.js';
import { changeBudget, insertBudget, usageLostAfter } from './write-budget.sql.js';

export interface BudgetRequest {
  scope: BudgetScope;
  /** The scope `global` has no id here, or that of the workspace. */
  scopeId?: string;
  /** The unit is tokens. */
  allocated: string | number;
  /**
   * A budget that does not recur needs both times. The periods of a recurring one begin at
   * `periodStart`, or at midnight, on Mondays, or on the first of the month.
   */
  periodStart?: string;
  periodEnd?: string;
  /** Null ends the recurrence with the present period. */
  recurrence?: Recurrence | null;
  policy?: BudgetPolicy;
}

export type BudgetChange = Partial<Omit<BudgetRequest, 'scope' | 'scopeId'>>;

export interface Reallocation {
  from: BudgetView;
  to: BudgetView;
}

export interface BudgetListing {
  scope: BudgetScope | null;
  scopeId: string | null;
  active: boolean;
  after: string | null;
  limit: number;
}

const SCOPE_COLUMNS = ['project', 'milestone', 'task'] as const;
const PERIOD_TAKEN = 'usage_budgets_period_is_free';
const PERIOD_IS_TIME = 'usage_budgets_period_is_time';
const MAX_TOKENS = 2n ** 63n - 1n;

/** Creates, changes, lists and reallocates budgets. Other services write holds and usage. */
@Injectable()
export class Budgets {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * The new budget has consumed the usage of its period so far. Live runs hold nothing of it. A
   * repetition of the request gets the same answer.
   *
   * @throws DroverError `validation_failed`, `budget_period_taken`, `project_not_found`,
   *   `milestone_not_found`, `task_not_found`
   */
  async create(
    { workspaceId }: Caller,
    request: BudgetRequest,
    record?: IdempotencyRecord,
  ): Promise<BudgetView> {
    validateNewPeriod(request);
    const { allocated, periodStart = null, periodEnd = null, policy = 'pause' } = request;
    const scopes = scopeColumns(workspaceId, request);
    const period = [periodStart, periodEnd, policy, ...ruleOf(request)];
    const params = [workspaceId, newId(), ...scopes, allocated, ...period];
    const row = await this.withLedgerClosed(workspaceId, insertBudget, params, {
      counts: true,
      record,
    });
    if (!row) throw new Error('A budget was not inserted.');
    return toBudgetView(row);
  }

  /** @throws DroverError `budget_not_found` */
  async get({ workspaceId }: Pick<Caller, 'workspaceId'>, id: string): Promise<BudgetView> {
    const row = await firstRow(this.database.tenant(workspaceId), findBudget, [workspaceId, id]);
    if (!row) throw new DroverError('budget_not_found');
    return toBudgetView(row);
  }

  /** Lists the newest first. @throws DroverError `project_not_found` for an unknown scope */
  async list({ workspaceId }: Caller, listing: BudgetListing): Promise<Page<BudgetView>> {
    const { scope, scopeId, active, after, limit } = listing;
    const tenant = this.database.tenant(workspaceId);
    const params = [workspaceId, scope, scopeId, active, after, limit + 1];
    const rows = await tenant.rows(listBudgets, params);
    if (scopeId !== null && rows.length === 0) {
      const known = await firstRow(tenant, findScope, [workspaceId, scopeId]);
      if (!known) throw new DroverError(scopeNotFound(scope));
    }
    return toPage(rows, limit, ({ id }) => [id], toBudgetView);
  }

  /**
   * A budget can be lowered below its consumption: then it is used up. With another period, it has
   * consumed the usage of that period. New tokens apply to all later periods as well.
   *
   * @throws DroverError `budget_not_found`, `version_mismatch`, `validation_failed`,
   *   `budget_period_taken`
   */
  async change(
    { workspaceId }: Caller,
    id: string,
    change: BudgetChange,
    version?: number,
  ): Promise<BudgetView> {
    const { allocated = null, periodStart = null, periodEnd = null, policy = null } = change;
    validateChangedPeriod(change, await this.get({ workspaceId }, id));
    const stops = change.recurrence === null;
    const rule = [...ruleOf(change), stops];
    const period = [periodStart, periodEnd, policy, version ?? null, ...rule];
    const params = [workspaceId, id, allocated, ...period];
    const counts = periodStart !== null || periodEnd !== null || change.recurrence !== undefined;
    const row = await this.withLedgerClosed(workspaceId, changeBudget, params, { counts });
    if (!row) throw new DroverError('version_mismatch');
    this.wakeWaiting(workspaceId);
    return toBudgetView(row);
  }

  /**
   * Moves available tokens from one budget to another, in one transaction. Later periods of
   * recurring budgets keep their tokens. A repetition of the request gets the same answer.
   *
   * @throws DroverError `budget_not_found`, `budget_exceeded`, `validation_failed`
   */
  async reallocate(
    { workspaceId }: Caller,
    fromId: string,
    { to, amount }: { to: string; amount: string | number },
    record?: IdempotencyRecord,
  ): Promise<Reallocation> {
    const toId = to.toLowerCase();
    if (fromId === toId) {
      throw invalidField('to', 'must be another budget');
    }
    const body = await this.database.tenant(workspaceId).transaction(async (tx) => {
      const locked = await tx.rows(lockBudgets, [workspaceId, [fromId, toId]]);
      const [from, to] = [fromId, toId].map((id) => locked.find((row) => row.id === id));
      if (!from || !to) throw new DroverError('budget_not_found');
      if (BigInt(from.available) < BigInt(amount)) throw budgetExceeded(from);
      if (BigInt(to.allocated) + BigInt(amount) > MAX_TOKENS) {
        throw invalidField('amount', 'must leave the other budget below 2^63');
      }
      const rows = await tx.rows(moveAllocation, [workspaceId, fromId, toId, amount]);
      await tx.rows(tellBudgetAlerts, [MAX_ALERTED, workspaceId]);
      const views = new Map(rows.map((row) => [row.id, toBudgetView(row)]));
      const body = { from: views.get(fromId) as BudgetView, to: views.get(toId) as BudgetView };
      await storeAnswer(tx, workspaceId, record, { status: 200, body });
      return body;
    });
    this.wakeWaiting(workspaceId);
    return body;
  }

  /**
   * No usage is recorded while the statement runs.
   *
   * @param counts whether the usage of a period is counted; all its reports must be kept
   * @param record of the request that creates a budget
   */
  private async withLedgerClosed(
    workspaceId: string,
    statement: typeof insertBudget,
    params: unknown[],
    { counts, record }: { counts: boolean; record?: IdempotencyRecord },
  ): Promise<BudgetRow | undefined> {
    try {
      return await this.database.tenant(workspaceId).transaction(async (tx) => {
        await tx.rows(closeLedger, [workspaceId]);
        const row = await firstRow(tx, statement, params);
        const since = [workspaceId, row?.period_start];
        const lost = counts && row && (await firstRow(tx, usageLostAfter, since));
        if (lost) throw usageNotKept(lost.since);
        await tx.rows(tellBudgetAlerts, [MAX_ALERTED, workspaceId]);
        const answer = row && { status: 201, body: toBudgetView(row) };
        if (answer) await storeAnswer(tx, workspaceId, record, answer);
        return row;
      });
    } catch (error) {
      throw toDroverError(error);
    }
  }

  /** Tasks that waited for a budget can be handed out, and paused tasks can resume. */
  private wakeWaiting(workspaceId: string): void {
    this.wakeUps.manyClaims(workspaceId);
    this.wakeUps.coordinator();
  }
}

function scopeColumns(workspaceId: string, { scope, scopeId }: BudgetRequest): (string | null)[] {
  if (scope !== 'global') {
    if (scopeId === undefined) throw invalidField('scopeId', `must name the ${scope}`);
    return SCOPE_COLUMNS.map((column) => (column === scope ? scopeId : null));
  }
  if (scopeId !== undefined && scopeId.toLowerCase() !== workspaceId) {
    throw invalidField('scopeId', 'must be the workspace, or be left out, with the scope global');
  }
  return SCOPE_COLUMNS.map(() => null);
}

function usageNotKept(since: Date): DroverError {
  const from = since.toISOString();
  return invalidField(
    'periodStart',
    `must not be before ${from}: older usage is not kept, and would not be counted`,
  );
}

function budgetExceeded({ available, consumed, reserved }: BudgetRow): DroverError {
  const movable = BigInt(available) > 0n ? `Only ${available} tokens` : 'No tokens';
  const used = `${consumed} are consumed, and ${reserved} are held by live runs`;
  const detail = `${movable} of this budget can be moved: ${used}.`;
  return new DroverError('budget_exceeded', { detail, members: { available } });
}

const NOT_FOUND = {
  usage_budgets_project_fkey: 'project_not_found',
  usage_budgets_milestone_fkey: 'milestone_not_found',
  usage_budgets_task_fkey: 'task_not_found',
} as const;

function scopeNotFound(scope: BudgetScope | null) {
  return scope === 'milestone' || scope === 'task'
    ? (`${scope}_not_found` as const)
    : 'project_not_found';
}

function toDroverError(error: unknown): unknown {
  const constraint = violatedConstraint(error);
  // Two concurrent changes can be valid alone and contradict each other.
  if (constraint === PERIOD_IS_TIME) return invalidField('periodEnd', 'must be after periodStart');
  if (isUnknownTimeZone(error)) {
    return invalidField('recurrence.timeZone', 'is a time zone that the database does not know');
  }
  if (constraint === PERIOD_TAKEN) return new DroverError('budget_period_taken');
  const notFound = NOT_FOUND[constraint as keyof typeof NOT_FOUND];
  return notFound === undefined ? error : new DroverError(notFound);
}
