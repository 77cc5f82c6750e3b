import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { routingSavings, type SavingsRow } from './routing-savings.sql.js';

/** Amounts are decimals of USD, token counts are decimal digits. */
interface Amounts {
  tokens: string;
  actualUsd: string;
  /** The cost of the same tokens with the dearest model of the list at that time. */
  dearestUsd: string;
  savedUsd: string;
  /** The share of `dearestUsd`, with one decimal. It is null if that is 0. */
  savedPercent: number | null;
}

export interface ModelSavings extends Amounts {
  model: string;
}

export interface Savings extends Amounts {
  from: string;
  to: string;
  /** The latest of `dearestModels`, or null if no model had a price. */
  dearestModel: string | null;
  /** The models that the usage is compared with, in the order of time. */
  dearestModels: string[];
  /** Tokens are not compared if their model had no price. */
  unpricedTokens: string;
  models: ModelSavings[];
}

const DEFAULT_MS = 30 * 24 * 3_600_000;
const ENDS_FIRST = { field: 'to', message: 'must be later than `from`' };

/** Compares the cost of usage with the dearest price of the list at that time. */
@Injectable()
export class RoutingSavings {
  constructor(private readonly database: Database) {}

  /**
   * @param from the default is 30 days before `to`
   * @param to an exclusive bound; the default is now
   * @throws DroverError `validation_failed`
   */
  async between(
    { workspaceId }: Pick<Caller, 'workspaceId'>,
    from: string | undefined,
    to: string | undefined,
  ): Promise<Savings> {
    const end = to === undefined ? new Date() : new Date(to);
    const start = from === undefined ? new Date(end.getTime() - DEFAULT_MS) : new Date(from);
    if (start >= end) throw new DroverError('validation_failed', { errors: [ENDS_FIRST] });
    const params = [workspaceId, start, end];
    const rows = await this.database.tenant(workspaceId).rows(routingSavings, params);
    const total = rows.pop() as (typeof rows)[number];
    const { dearest_models: dearestModels } = total;
    return {
      from: start.toISOString(),
      to: end.toISOString(),
      dearestModel: dearestModels.at(-1) ?? null,
      dearestModels,
      ...amountsOf(total),
      unpricedTokens: total.unpriced_tokens,
      models: rows.flatMap((row) =>
        row.model === null ? [] : [{ model: row.model, ...amountsOf(row) }],
      ),
    };
  }
}

function amountsOf(row: Omit<SavingsRow, 'model'>): Amounts {
  return {
    tokens: row.tokens,
    actualUsd: row.actual_usd,
    dearestUsd: row.dearest_usd,
    savedUsd: row.saved_usd,
    savedPercent: row.saved_percent,
  };
}
