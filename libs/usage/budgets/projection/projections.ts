import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { projectionFacts } from '../domain/burn.js';
import { type BurnRates, project, type Recommendation } from '../domain/projection.js';
import { burnOfBudget } from './burn-of-budget.sql.js';

/** The time at which a budget will be exhausted. `ProjectionDto` documents the fields. */
export interface ProjectionView {
  budgetId: string;
  remainingTokens: string;
  availableTokens: string;
  dailyBurnRate: string;
  burnRates: Record<keyof BurnRates, string>;
  daysUntilExhaustion: number | null;
  earliestDaysUntilExhaustion: number | null;
  latestDaysUntilExhaustion: number | null;
  projectedExhaustionDate: string | null;
  periodEnd: string;
  willLastPeriod: boolean;
  recommendation: Recommendation;
  throttle: { maxRuns: number; since: string } | null;
  at: string;
}

/** Projects when budgets will be exhausted. */
@Injectable()
export class Projections {
  constructor(private readonly database: Database) {}

  /** @throws DroverError `budget_not_found` */
  async of(workspaceId: string, id: string): Promise<ProjectionView> {
    const row = await firstRow(this.database.tenant(workspaceId), burnOfBudget, [workspaceId, id]);
    if (!row) throw new DroverError('budget_not_found');
    const { rates, daysUntilExhaustion, range, exhaustedAt, ...outlook } = project(
      projectionFacts(row),
    );
    return {
      budgetId: row.id,
      remainingTokens: row.remaining,
      availableTokens: row.available,
      dailyBurnRate: toWholeTokens(rates.lastDay),
      burnRates: {
        lastHour: toWholeTokens(rates.lastHour),
        lastDay: toWholeTokens(rates.lastDay),
        period: toWholeTokens(rates.period),
        ewma: toWholeTokens(rates.ewma),
      },
      daysUntilExhaustion: roundDays(daysUntilExhaustion),
      earliestDaysUntilExhaustion: roundDays(range.earliest),
      latestDaysUntilExhaustion: roundDays(range.latest),
      projectedExhaustionDate: exhaustedAt?.toISOString() ?? null,
      periodEnd: row.period_end.toISOString(),
      ...outlook,
      throttle:
        row.max_runs !== null && row.throttled_since
          ? { maxRuns: row.max_runs, since: row.throttled_since.toISOString() }
          : null,
      at: row.now.toISOString(),
    };
  }
}

function toWholeTokens(rate: number): string {
  return String(BigInt(Math.round(rate)));
}

/** Rounds days to the ten-thousandth, which is nine seconds. */
function roundDays(days: number | null): number | null {
  return days === null ? null : Math.round(days * 10_000) / 10_000;
}
