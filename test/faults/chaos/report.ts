import type { Outcome } from '#lib/invariants';
import type { Spread } from './faults/deaths.js';
import type { Violation } from './findings.js';

/** The actions and findings of a chaos run. */
export interface Report {
  ok: boolean;
  seed: number;
  minutes: number;
  /**
   * The clients' operations, each until its final answer, and the answers by status (`none`: no
   * answer).
   */
  operations: Record<string, number>;
  answers: Record<string, number>;
  tasks: Record<string, number>;
  /** The number of usage reports in the ledger. */
  usageReports: number;
  faults: Record<string, number>;
  recoveryMs: Spread;
  /** The time from the last fault until every task was finished. */
  settledMs: number;
  samples: number;
  /** Programs that ended by themselves, with their last output. */
  crashes: Record<string, string[]>;
  invariants: Pick<Outcome, 'name' | 'holds'>[];
  violations: Violation[];
  violationCount: number;
}

export function describe(report: Report): string {
  const { recoveryMs: r, violations, violationCount } = report;
  const sum = (counts: Record<string, number>): number =>
    Object.values(counts).reduce((total, count) => total + count, 0);
  const list = (counts: Record<string, number>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const crashes = Object.entries(report.crashes).flatMap(([name, words]) =>
    words.map((word) => `  ${name}: ${word}`),
  );
  return [
    `seed ${report.seed}, ${report.minutes} minutes`,
    `operations ${sum(report.operations)}: ${list(report.operations)}`,
    `answers: ${list(report.answers)}`,
    `tasks: ${list(report.tasks)}; reports of usage ${report.usageReports}`,
    `faults ${sum(report.faults)}: ${list(report.faults)}`,
    `recovery of a killed worker's tasks: p50 ${r.p50} ms, p99 ${r.p99} ms, of ${r.samples}`,
    `settled after ${(report.settledMs / 1_000).toFixed(1)} s, ${report.samples} looks while it ran`,
    ...(crashes.length > 0 ? ['programs that ended by themselves:', ...crashes] : []),
    `invariants: ${report.invariants.map(({ name, holds }) => `${name} ${holds ? 'holds' : 'BROKEN'}`).join(', ')}`,
    `violations ${violationCount}`,
    ...violations.map(({ check, subject, problem }) => `  ${check}: ${subject}: ${problem}`),
    '',
  ].join('\n');
}
