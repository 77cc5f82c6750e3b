import { Injectable } from '@nestjs/common';
import type { Transaction } from '#lib/database';
import { type LimitReport, ProviderLimits, type UnderstoodLimit } from '#lib/provider-limits';
import { WakeUps } from '#lib/valkey';
import { noteModels } from '../store/note-models.sql.js';
import type { ReportOutcome } from './report-replay.js';
import type { Reporter } from './reporter.js';
import { RunReports } from './run-reports.js';

export interface ProviderLimitReport extends LimitReport {
  /** What the provider said, for the log of the task. */
  message?: string;
  checkpointData?: Record<string, unknown>;
}

export interface ProviderLimitOutcome extends ReportOutcome {
  /** null: nothing is closed for the report. */
  limitId: string | null;
  /** Until when the provider is left alone: at least until the time that was reported. */
  until: Date | null;
}

const REASON = 'provider_limited';

/**
 * Providers that have refused a run: it gives its task back, which is no attempt, and what needs the model waits. Where
 * nothing can be closed for it, its task alone waits. Of a run that has ended already the report counts as well, and moves nothing.
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
    const { checkpointData, message } = report;
    let noted: { id: string; until: Date } | undefined;
    const release = { reason: REASON, message: wordsOf(limit, message), checkpointData };
    const released = await this.reports.release(by, release, async (tx) => {
      await noteModel(tx, by, limit);
      noted = await this.limits.note(tx, by, limit);
      return noted ? 0 : limit.seconds;
    });
    // The other runs of that model are told to put their work down.
    this.wakeUps.coordinator();
    return { ...released, limitId: noted?.id ?? null, until: noted?.until ?? null };
  }
}

/** By what its last run worked with, the task is known to need it. */
async function noteModel(
  tx: Transaction,
  { workspaceId, runId }: Reporter,
  { usedModel }: UnderstoodLimit,
): Promise<void> {
  if (usedModel !== null) await tx.rows(noteModels, [workspaceId, [runId], [usedModel]]);
}

function wordsOf({ limited }: UnderstoodLimit, message: string | undefined): string {
  const said = message === undefined ? '' : `: ${message}`;
  if (limited === null) return `A provider that is not known refuses the run${said}`;
  return `The provider ${limited.provider} refuses ${limited.model ?? 'all of its models'}${said}`;
}
