import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Transaction } from '#lib/database';
import { type Caller, DroverError, newId } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import {
  type Limited,
  limitedBy,
  type LimitKind,
  type LimitReport,
  limitSeconds,
} from '../domain/provider-limit.js';
import { anyVersionOf } from '#lib/models';
import {
  type LimitRow,
  modelOfRun,
  noteProviderLimit,
  openProviderLimits,
  removeProviderLimit,
} from './provider-limits.sql.js';

/** A provider that refuses the workspace, until a time. */
export interface ProviderLimitView {
  id: string;
  provider: string;
  /** null: all of its models. */
  model: string | null;
  kind: LimitKind;
  since: string;
  until: string;
  reportedBy: { runId: string; agentId: string; agentName: string; at: string };
}

/** A report that was understood. */
export interface UnderstoodLimit {
  /** null: the model or its provider is not known, so nothing is closed. */
  limited: Limited | null;
  kind: LimitKind;
  /** From now on, or from the end of the run; 0: the time has passed. */
  seconds: number;
  /** Whether the reporter named the time, and not how long it lasts. */
  byTheClock: boolean;
  /** The model that the run has worked with, where it was given another or none. */
  usedModel: string | null;
}

type Reporting = { workspaceId: string; runId: string; agentId: string };

/** As many waiting agents are asked; they ask each other while there is something. */
const WOKEN = 100;

/** Which providers refuse a workspace, and until when. */
@Injectable()
export class ProviderLimits {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
  ) {}

  async list({
    workspaceId,
  }: Pick<Caller, 'workspaceId'>): Promise<{ items: ProviderLimitView[] }> {
    const tenant = this.database.tenant(workspaceId);
    return { items: (await tenant.rows(openProviderLimits, [workspaceId, null])).map(toView) };
  }

  /**
   * The provider works again: what waits for it goes on now.
   *
   * @throws DroverError `provider_limit_not_found`
   */
  async remove(
    { workspaceId }: Pick<Caller, 'workspaceId'>,
    id: string,
  ): Promise<ProviderLimitView> {
    const row = await this.database.tenant(workspaceId).transaction(async (tx) => {
      const found = await firstRow(tx, openProviderLimits, [workspaceId, id]);
      return (await firstRow(tx, removeProviderLimit, [workspaceId, id])) && found;
    });
    if (!row) throw new DroverError('provider_limit_not_found');
    this.wakeUps.claims(workspaceId, WOKEN);
    this.wakeUps.coordinator();
    return toView(row);
  }

  /**
   * What a run's report comes to, before anything is written.
   *
   * @throws DroverError `run_not_found`, `validation_failed`
   */
  async understand(by: Reporting, report: LimitReport): Promise<UnderstoodLimit> {
    const params = [by.workspaceId, by.runId, by.agentId];
    const run = await firstRow(this.database.tenant(by.workspaceId), modelOfRun, params);
    if (!run) throw new DroverError('run_not_found');
    const limited = limitedBy(report, run.model);
    const isOfRun = run.model !== null && limited && new RegExp(limited.covers).test(run.model);
    return {
      limited,
      kind: report.kind ?? 'rate_limited',
      seconds: limitSeconds(report, new Date()),
      byTheClock: report.until !== undefined,
      usedModel: limited && !isOfRun ? (report.model ?? null) : null,
    };
  }

  /** @returns the limit as it is now: a report only prolongs it; undefined: nothing is closed */
  async note(
    tx: Transaction,
    by: Reporting,
    { limited, kind, seconds, byTheClock }: UnderstoodLimit,
  ): Promise<{ id: string; until: Date } | undefined> {
    if (limited === null || seconds === 0) return undefined;
    const { provider, model, covers, refused } = limited;
    const params = [by.workspaceId, newId(), provider, model, covers, kind, seconds];
    const [noted] = await tx.rows(noteProviderLimit, [
      ...params,
      by.runId,
      by.agentId,
      byTheClock,
      refused,
      anyVersionOf(refused),
    ]);
    return noted;
  }
}

function toView(row: LimitRow): ProviderLimitView {
  const { id, provider, model, kind, since, until } = row;
  const reportedBy = {
    runId: row.run_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    at: row.reported_at.toISOString(),
  };
  const times = { since: since.toISOString(), until: until.toISOString() };
  return { id, provider, model, kind, ...times, reportedBy };
}
