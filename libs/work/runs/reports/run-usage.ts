import { Injectable } from '@nestjs/common';
import { DroverError } from '#lib/kernel';
import { type PricedUsage, UsageCharges, type UsageOutcome } from '#lib/budgets';
import { type UsageReport } from '#lib/ledger';
import type { Reporter } from './reporter.js';

/**
 * Usage of a run. Unlike its other reports, this counts even when the run has ended: the tokens are
 * spent.
 */
@Injectable()
export class RunUsage {
  constructor(private readonly charges: UsageCharges) {}

  /**
   * @throws DroverError `validation_failed`, `unknown_model`, `run_not_found`,
   *   `usage_report_conflict`
   */
  report(by: Reporter, reports: readonly UsageReport[]): Promise<UsageOutcome> {
    return this.charges.record(by.workspaceId, usageOf(by, reports));
  }

  /**
   * Usage reported with a completion; undefined without any. @throws DroverError
   * `validation_failed`, `unknown_model`
   */
  async withCompletion(
    by: Reporter,
    reports: readonly UsageReport[] = [],
  ): Promise<PricedUsage | undefined> {
    return reports.length === 0 ? undefined : this.charges.price(usageOf(by, reports));
  }
}

function usageOf(
  { runId, agentId }: Reporter,
  reports: readonly UsageReport[],
): Parameters<UsageCharges['record']>[1] {
  const unequal = reports.findIndex(hasMoreReasoning);
  if (unequal >= 0) throw invalidField(unequal, 'reasoningTokens', 'must not exceed outputTokens');
  const ids = reports.map(({ id }) => id);
  const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (twice < 0) return { runId, agentId, reports };
  throw invalidField(twice, 'id', 'is that of another report');
}

function hasMoreReasoning({ reasoningTokens = 0, outputTokens }: UsageReport): boolean {
  return BigInt(reasoningTokens) > BigInt(outputTokens);
}

function invalidField(index: number, name: string, message: string): DroverError {
  const errors = [{ field: `reports[${index}].${name}`, message }];
  return new DroverError('validation_failed', { errors });
}
