import { Injectable } from '@nestjs/common';
import type { Transaction } from '#lib/database';
import {
  DEFAULT_LIMIT_SECONDS,
  type LimitReport,
  ProviderLimits,
  type UnderstoodLimit,
} from '#lib/provider-limits';
import { WakeUps } from '#lib/valkey';
import { noteModels } from '../store/note-models.sql.js';
import { triesAtOnce } from './tries-at-once.sql.js';
import type { ReportOutcome } from './report-replay.js';
import type { Reporter } from './reporter.js';
import { RunReports } from './run-reports.js';

export interface ProviderLimitReport extends LimitReport {
  /** The provider's words, for the log of the task. */
  message?: string;
  checkpointData?: Record<string, unknown>;
  /** The fallbacks of the model that the provider has refused as well. */
  fallbacks?: readonly RefusedFallback[];
}

export interface RefusedFallback {
  model: string;
  retryAfterSeconds?: number;
}

export interface ProviderLimitOutcome extends ReportOutcome {
  /** null: the report opened no limit. */
  limitId: string | null;
  /** The provider is not used before this time, which is at least the reported one. */
  until: Date | null;
}

const REASON = 'provider_limited';

/**
 * Reports of providers that refuse a run. The run releases its task, which is no attempt, and tasks
 * that need the model wait. Where no limit can be opened, only the run's task waits; where a fallback
 * of its coding agent was not refused, a while. A report about an ended run counts too, and releases
 * nothing.
 */
@Injectable()
export class ProviderLimitReports {
  constructor(
    private readonly limits: ProviderLimits,
    private readonly reports: RunReports,
    private readonly wakeUps: WakeUps,
  ) {}

  /** @throws DroverError `validation_failed`, `run_not_found` */
  async report(by: Reporter, report: ProviderLimitReport): Promise<ProviderLimitOutcome> {
    const limit = await this.limits.understand(by, report);
    const { checkpointData, message, fallbacks = [] } = report;
    const { provider, kind } = report;
    const others = await Promise.all(
      fallbacks.map(({ model, retryAfterSeconds }) =>
        this.limits.understand(by, { provider, kind, model, retryAfterSeconds }),
      ),
    );
    let noted: { id: string; until: Date } | undefined;
    const release = { reason: REASON, message: describeLimit(limit, message), checkpointData };
    const released = await this.reports.release(by, release, async (tx) => {
      await noteModel(tx, by, limit);
      noted = await this.limits.note(tx, by, limit);
      for (const other of others) await this.limits.note(tx, by, other);
      if (noted === undefined) return limit.seconds;
      const [task] = await tx.rows(triesAtOnce, [by.workspaceId, by.runId]);
      return task === undefined ? 0 : Math.min(limit.seconds, DEFAULT_LIMIT_SECONDS);
    });
    // The other runs of that model are told to suspend their work.
    this.wakeUps.coordinator();
    return { ...released, limitId: noted?.id ?? null, until: noted?.until ?? null };
  }
}

/** Notes the model of the last run, so that the task is known to need it. */
async function noteModel(
  tx: Transaction,
  { workspaceId, runId }: Reporter,
  { usedModel }: UnderstoodLimit,
): Promise<void> {
  if (usedModel !== null) await tx.rows(noteModels, [workspaceId, [runId], [usedModel]]);
}

function describeLimit({ limited }: UnderstoodLimit, message: string | undefined): string {
  const said = message === undefined ? '' : `: ${message}`;
  if (limited === null) return `An unknown provider or model refuses the run${said}`;
  return `The provider ${limited.provider} refuses ${limited.model ?? 'all of its models'}${said}`;
}
