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
import { modelOfRun, noteProviderLimit } from './note-provider-limit.sql.js';
import {
  type LimitRow,
  openProviderLimits,
  removeProviderLimit,
} from './open-provider-limits.sql.js';

/** A limit: a provider refuses the workspace until a time. */
export interface ProviderLimitView {
  id: string;
  provider: string;
  /** Null means all models of the provider. */
  model: string | null;
  kind: LimitKind;
  since: string;
  until: string;
  reportedBy: { runId: string; agentId: string; agentName: string; at: string };
}

/** A report, with the limit that it leads to. */
export interface UnderstoodLimit {
  /** It is null if the model or its provider is unknown. Then no limit is noted. */
  limited: Limited | null;
  kind: LimitKind;
  /** They count from now, or from the end of the run. 0 means that the time has passed. */
  seconds: number;
  /** The report names an absolute time, and not a duration. */
  isAbsolute: boolean;
  /** The model that the run worked with, if it was given another model or none. */
  usedModel: string | null;
}

type Reporting = { workspaceId: string; runId: string; agentId: string };

/** Notes, lists and removes the limits of providers. */
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
   * Ends a limit early, so that the tasks and agents under it resume now.
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
    this.wakeUps.manyClaims(workspaceId);
    this.wakeUps.coordinator();
    return toView(row);
  }

  /**
   * Finds the limit that a report of a run leads to. It writes nothing.
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
      isAbsolute: report.until !== undefined,
      usedModel: limited && !isOfRun ? (report.model ?? null) : null,
    };
  }

  /** @returns the limit, which a report only prolongs; undefined if no limit is noted */
  async note(
    tx: Transaction,
    by: Reporting,
    { limited, kind, seconds, isAbsolute }: UnderstoodLimit,
  ): Promise<{ id: string; until: Date } | undefined> {
    if (limited === null || seconds === 0) return undefined;
    const { provider, model, covers, refused } = limited;
    const params = [by.workspaceId, newId(), provider, model, covers, kind, seconds];
    const [noted] = await tx.rows(noteProviderLimit, [
      ...params,
      by.runId,
      by.agentId,
      isAbsolute,
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
