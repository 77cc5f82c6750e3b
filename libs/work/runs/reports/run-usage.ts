import { Injectable } from '@nestjs/common';
import { DroverError } from '#lib/kernel';
import { type PricedUsage, UsageCharges, type UsageOutcome } from '#lib/budgets';
import { type UsageReport } from '#lib/ledger';
import { ValuesAtHand } from '#lib/secrets';
import type { Reporter } from './reporter.js';

/**
 * Usage of a run. Unlike its other reports, this counts even when the run has ended: the tokens are
 * spent.
 */
@Injectable()
export class RunUsage {
  constructor(
    private readonly charges: UsageCharges,
    private readonly atHand: ValuesAtHand,
  ) {}

  /**
   * @throws DroverError `validation_failed`, `unknown_model`, `run_not_found`,
   *   `usage_report_conflict`
   */
  report(by: Reporter, reports: readonly UsageReport[]): Promise<UsageOutcome> {
    return this.charges.record(by.workspaceId, this.usageOf(by, reports));
  }

  /**
   * Usage reported with a completion; undefined without any. @throws DroverError
   * `validation_failed`, `unknown_model`
   */
  async withCompletion(
    by: Reporter,
    reports: readonly UsageReport[] = [],
  ): Promise<PricedUsage | undefined> {
    return reports.length === 0
      ? undefined
      : this.charges.price(this.usageOf(by, reports, 'usage'));
  }

  private usageOf(
    { workspaceId, agentId, runId }: Reporter,
    reports: readonly UsageReport[],
    list = 'reports',
  ): Parameters<UsageCharges['record']>[1] {
    const unequal = reports.findIndex(hasMoreReasoning);
    const refuse = (index: number, name: string, message: string) =>
      invalidField(`${list}[${index}].${name}`, message);
    if (unequal >= 0) throw refuse(unequal, 'reasoningTokens', 'must not exceed outputTokens');
    const ids = reports.map(({ id }) => id);
    const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
    if (twice >= 0) throw refuse(twice, 'id', 'is that of another report');
    // Reports are many, so only values that this server has met are known.
    const known = this.atHand.of({ workspaceId, agentId });
    const secret = ids.findIndex((id) => known.hide(id) !== id);
    if (secret >= 0) throw refuse(secret, 'id', 'must not contain a secret');
    const clean = reports.map(({ operation, ...report }) => ({
      ...report,
      ...(operation !== undefined && { operation: known.hide(operation) }),
    }));
    return { runId, agentId, reports: clean };
  }
}

function hasMoreReasoning({ reasoningTokens = 0, outputTokens }: UsageReport): boolean {
  return BigInt(reasoningTokens) > BigInt(outputTokens);
}

function invalidField(field: string, message: string): DroverError {
  return new DroverError('validation_failed', { errors: [{ field, message }] });
}
