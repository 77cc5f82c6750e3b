import { Injectable } from '@nestjs/common';
import { DroverError } from '#lib/kernel';
import { UsageLedger, type UsageOutcome, type UsageReport } from '#lib/usage-budget';
import type { Reporter } from './reporter.js';

/** What a run has used. Other than its other reports, this counts whether it lives or not: the tokens are gone. */
@Injectable()
export class RunUsage {
  constructor(private readonly ledger: UsageLedger) {}

  /** @throws DroverError `validation_failed`, `unknown_model`, `run_not_found`, `usage_report_conflict` */
  report(
    { workspaceId, runId, agentId }: Reporter,
    reports: readonly UsageReport[],
  ): Promise<UsageOutcome> {
    const ids = reports.map(({ id }) => id);
    const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
    if (twice >= 0) {
      const errors = [{ field: `reports[${twice}].id`, message: 'is that of another report' }];
      throw new DroverError('validation_failed', { errors });
    }
    return this.ledger.record(workspaceId, { runId, agentId, reports });
  }
}
