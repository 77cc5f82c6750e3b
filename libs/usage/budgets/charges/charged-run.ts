import type { ChargedRun } from '../domain/settle.js';
import type { UsedRunRow } from '../store/lock-charged.sql.js';
import { type PricedReport, totalOf } from '#lib/ledger';
import type { Bounds } from '../domain/request-holds.js';
import { boundsIn } from '../store/bounds.js';

/** Adds the tokens and costs of its reports to a run. A report with the id of a request ends it. */
export function toChargedRun(
  workspaceId: string,
  run: UsedRunRow,
  reports: readonly PricedReport[],
): ChargedRun {
  const requests = boundsIn(run);
  return {
    runId: run.run_id,
    tokens: reports.reduce((sum, report) => sum + totalOf(report), 0n),
    cost: sumOf(reports.map(({ cost }) => cost)),
    held: BigInt(run.held_tokens),
    heldOf: run.budget_ids,
    estimate: BigInt(run.estimated_tokens),
    ...(requests.size > 0 &&
      reports.length > 0 && {
        requests: {
          left: withoutReported(requests, reports),
          usedBefore: BigInt(run.used_tokens),
          firstHeld: BigInt(run.first_held),
        },
      }),
    isLive: run.is_live,
    scopes: [workspaceId, run.project_id, run.milestone_id, run.task_id],
  };
}

function withoutReported(held: Bounds, reports: readonly PricedReport[]): Bounds {
  const ended = new Set(reports.map(({ id }) => id));
  return new Map([...held].filter(([id]) => !ended.has(id)));
}

const DECIMALS = 12;

/** Adds decimals with at most twelve places exactly. They are text. */
function sumOf(amounts: readonly string[]): string {
  const parts = amounts.map((amount) => {
    const [whole = '0', fraction = ''] = amount.split('.');
    return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  });
  const digits = String(parts.reduce((sum, part) => sum + part, 0n)).padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
}
