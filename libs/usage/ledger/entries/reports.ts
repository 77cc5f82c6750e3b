import type { TokenUsage } from '../domain/token-usage.js';
import type { UsageLogRow } from './usage-logs.sql.js';

/** A report of the tokens that a run used. Tokens are whole numbers, perhaps as text. */
export interface UsageReport {
  /** The reporter chooses the id. The same id again is the same report. */
  id: string;
  model: string;
  /** The model that the provider was asked for. Its price counts if `model` has none. */
  requestedModel?: string;
  operation?: string;
  inputTokens: string | number;
  outputTokens: string | number;
  cacheReadTokens?: string | number;
  cacheWriteTokens?: string | number;
  /** Part of `outputTokens`. */
  reasoningTokens?: string | number;
  /** The time from the request to the first output, in milliseconds. */
  timeToFirstTokenMs?: number;
  /** The provider did not tell all counts. It counts as any other. */
  estimated?: boolean;
  /** The reporter's own cost in USD. It is stored and counts nowhere. */
  costUsd?: string | number;
}

/** A report with its cost by the server's prices. */
export interface PricedReport extends Omit<UsageReport, 'operation' | 'costUsd'> {
  operation: string | null;
  reportedCostUsd: string | null;
  /** The exact cost in USD, as text. */
  cost: string;
}

type Tokens = Pick<UsageReport, (typeof TOKENS)[number]>;
const TOKENS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;
const COLUMNS = {
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  cacheReadTokens: 'cache_read_tokens',
  cacheWriteTokens: 'cache_write_tokens',
} as const;

/** Compares a report with the recorded report of the same id. */
export function isSameReport(report: PricedReport, known: UsageLogRow): boolean {
  return (
    report.model === known.model &&
    report.operation === known.operation &&
    report.reportedCostUsd === known.reported_cost_usd &&
    BigInt(report.reasoningTokens ?? 0) === BigInt(known.reasoning_tokens) &&
    (report.timeToFirstTokenMs ?? null) === known.time_to_first_token_ms &&
    // A price that was added since changes it.
    (report.requestedModel !== undefined || (report.estimated ?? false) === known.estimated) &&
    TOKENS.every((kind) => tokensOf(report, kind) === BigInt(known[COLUMNS[kind]]))
  );
}

/** Returns the tokens of a report by kind. */
export function tokensIn(report: Tokens): TokenUsage {
  return {
    inputTokens: tokensOf(report, 'inputTokens'),
    outputTokens: tokensOf(report, 'outputTokens'),
    cacheReadTokens: tokensOf(report, 'cacheReadTokens'),
    cacheWriteTokens: tokensOf(report, 'cacheWriteTokens'),
  };
}

/** Adds all kinds of tokens. Budgets count this sum. */
export function totalOf(report: PricedReport): bigint {
  return TOKENS.reduce((sum, kind) => sum + tokensOf(report, kind), 0n);
}

/** The run of a report, with the ids of the budget scopes of its task. */
export interface ReportingRun {
  run_id: string;
  task_id: string;
  agent_id: string;
  project_id: string | null;
  milestone_id: string | null;
}

export function logRow(run: ReportingRun, report: PricedReport): Record<string, unknown> {
  const tokens = TOKENS.map((kind) => [COLUMNS[kind], String(tokensOf(report, kind))]);
  return {
    run_id: run.run_id,
    id: report.id,
    task_id: run.task_id,
    agent_id: run.agent_id,
    project_id: run.project_id,
    milestone_id: run.milestone_id,
    model: report.model,
    operation: report.operation,
    ...Object.fromEntries(tokens),
    reasoning_tokens: String(report.reasoningTokens ?? 0),
    time_to_first_token_ms: report.timeToFirstTokenMs ?? null,
    estimated: report.estimated ?? false,
    cost_usd: report.cost,
    reported_cost_usd: report.reportedCostUsd,
  };
}

const DECIMALS = 12;

/** Formats USD in the shortest form, which is how the ledger returns them. */
export function decimalOf(amount: string | number): string {
  const text = typeof amount === 'number' ? amount.toFixed(DECIMALS) : amount;
  const [whole = '0', fraction = ''] = text.split('.');
  let places = fraction.length;
  while (places > 0 && fraction[places - 1] === '0') places -= 1;
  return `${BigInt(whole)}${places > 0 ? `.${fraction.slice(0, places)}` : ''}`;
}

function tokensOf(report: Tokens, kind: (typeof TOKENS)[number]): bigint {
  return BigInt(report[kind] ?? 0);
}
