import { Injectable } from '@nestjs/common';
import { Coalescer, Database, type Transaction } from '#lib/database';
import { DroverError, redactText } from '#lib/kernel';
import {
  decimalOf,
  insertUsage,
  isSameReport,
  knownReports,
  logRow,
  openLedger,
  type PricedReport,
  tokensIn,
  type UsageReport,
} from '#lib/ledger';
import { costOf, ModelPrices } from '#lib/models';
import { WakeUps } from '#lib/valkey';
import { type Compliance, complianceOf, isConsumed, type Standing } from '../domain/compliance.js';
import { type ChargedRun, settle, type Settlement } from '../domain/settle.js';
import { applySettlement } from './settlement.sql.js';
import {
  lockAgentsOfRuns,
  lockChargedBudgets,
  lockUsedRuns,
  type UsedRunRow,
} from './used-runs.sql.js';
import { ALERTED, tellBudgetAlerts } from '../alerts/alerts.sql.js';
import { chargedRun } from './charged-run.js';
import { toStanding } from './standing.js';

/** Reports of one run. */
export interface RunUsage {
  runId: string;
  agentId: string;
  reports: readonly UsageReport[];
}

/** What became of them. */
export interface UsageOutcome extends Compliance {
  runId: string;
  accepted: number;
  /** Known already, word for word. */
  repeated: number;
}

/** Reports of one run, with their costs. */
export type PricedUsage = Omit<RunUsage, 'reports'> & { reports: readonly PricedReport[] };

/** What is done in the transaction that records usage; the runs whose reports were refused are named to it. */
export type Ending<Result> = (
  tx: Transaction,
  refused: ReadonlyMap<string, DroverError>,
) => Promise<Result>;

const MAX_BATCH = 100;
/** Characters. */
const MAX_OPERATION = 100;

/** The ledger of usage: what runs report is written once, settled against what they hold, and charged to budgets. */
@Injectable()
export class UsageLedger {
  private readonly coalescer: Coalescer<PricedUsage, UsageOutcome | DroverError>;

  constructor(
    private readonly database: Database,
    private readonly prices: ModelPrices,
    private readonly wakeUps: WakeUps,
  ) {
    this.coalescer = new Coalescer({
      maxBatch: MAX_BATCH,
      // They would wait for each other's budgets.
      maxInFlight: 1,
      identityOf: ({ runId }) => runId,
      run: (workspaceId, usages) => this.recordAll(workspaceId, usages),
    });
  }

  /**
   * All or nothing, also of a run that has ended. What comes at the same time is one transaction.
   *
   * @throws DroverError `unknown_model`, `run_not_found` (another agent's too), `usage_report_conflict`
   */
  async record(workspaceId: string, usage: RunUsage): Promise<UsageOutcome> {
    const outcome = await this.coalescer.submit(workspaceId, await this.price(usage));
    if (outcome instanceof DroverError) throw outcome;
    return outcome;
  }

  /** Reports with their costs, for `recordAndEnd`. @throws DroverError `unknown_model` */
  async price({ reports, ...run }: RunUsage): Promise<PricedUsage> {
    return { ...run, reports: await Promise.all(reports.map((report) => this.priced(report))) };
  }

  /**
   * Records what runs have used together with their ends: nobody sees the one without the other, so that a budget that
   * is used up by a run's last report does not stop the run.
   */
  async recordAndEnd<Result>(
    workspaceId: string,
    usages: readonly PricedUsage[],
    end: Ending<Result>,
  ): Promise<Result> {
    const tenant = this.database.tenant(workspaceId);
    const { usedUp, result } = await tenant.transaction(async (tx) => {
      const recorded = await recordIn(tx, workspaceId, usages, { ending: true });
      const refused = new Map<string, DroverError>();
      recorded.outcomes.forEach((outcome, index) => {
        if (outcome instanceof DroverError) refused.set(usages[index]?.runId ?? '', outcome);
      });
      return { ...recorded, result: await end(tx, refused) };
    });
    if (usedUp) this.wakeUps.coordinator();
    return result;
  }

  private async priced({ costUsd, operation, ...report }: UsageReport): Promise<PricedReport> {
    const price = await this.prices.priceOf(report.model, new Date());
    if (!price) {
      const detail = `The model "${report.model}" has no price.`;
      throw new DroverError('unknown_model', { detail });
    }
    return {
      ...report,
      operation: operation === undefined ? null : asLong(redactText(operation)),
      reportedCostUsd: costUsd === undefined ? null : decimalOf(costUsd),
      cost: costOf(tokensIn(report), price),
    };
  }

  private async recordAll(
    workspaceId: string,
    usages: readonly PricedUsage[],
  ): Promise<(UsageOutcome | DroverError)[]> {
    const { outcomes, usedUp } = await this.database
      .tenant(workspaceId)
      .transaction((tx) => recordIn(tx, workspaceId, usages, { ending: false }));
    // What its policy says of running tasks is the coordinator's to do.
    if (usedUp) this.wakeUps.coordinator();
    return outcomes;
  }
}

/** One request, once its reports are known to be new or old. */
interface Judged {
  run: UsedRunRow;
  fresh: readonly PricedReport[];
  repeated: number;
  charge: ChargedRun;
}

/** @param ending whether the runs end in the same transaction, which locks their agents: before budgets, as everywhere */
async function recordIn(
  tx: Transaction,
  workspaceId: string,
  usages: readonly PricedUsage[],
  { ending }: { ending: boolean },
) {
  const judged = await judge(tx, workspaceId, usages);
  const taken = judged.flatMap((one) => (one instanceof DroverError ? [] : [one]));
  const runs = taken.map(({ charge }) => charge);
  if (ending) await tx.rows(lockAgentsOfRuns, [workspaceId, taken.map(({ run }) => run.agent_id)]);
  const budgets = await lockBudgets(tx, workspaceId, runs);
  const settlement = settle(runs, budgets);
  const rows = taken.flatMap(({ run, fresh }) => fresh.map((report) => logRow(run, report)));
  if (rows.length > 0) {
    await tx.pipeline([
      [insertUsage, [workspaceId, JSON.stringify(rows)]],
      [applySettlement, [workspaceId, asJson(settlement.runs), asJson(settlement.budgets)]],
      [tellBudgetAlerts, [ALERTED, workspaceId]],
    ]);
  }
  const after = charged(budgets, settlement);
  const outcomes = judged.map((one): UsageOutcome | DroverError => {
    if (one instanceof DroverError) return one;
    const covering = after.filter(({ scopeId }) => one.charge.scopes.includes(scopeId));
    const counts = { accepted: one.fresh.length, repeated: one.repeated };
    return { runId: one.run.run_id, ...counts, ...complianceOf(covering) };
  });
  const usedUp = after.some(
    (budget, index) => isConsumed(budget) && !isConsumed(budgets[index] ?? budget),
  );
  return { outcomes, usedUp };
}

/** Under the locks of their runs: what is known then is not written by somebody else meanwhile. */
async function judge(
  tx: Transaction,
  workspaceId: string,
  usages: readonly PricedUsage[],
): Promise<(Judged | DroverError)[]> {
  const runIds = usages.map(({ runId }) => runId);
  const [, locked] = await tx.pipeline([
    [openLedger, [workspaceId]],
    [lockUsedRuns, [workspaceId, runIds]],
  ]);
  const runs = new Map(locked.map((run) => [run.run_id, run]));
  const keys = usages.flatMap(({ runId, reports }) => reports.map(({ id }) => ({ runId, id })));
  const rows = await tx.rows(knownReports, [
    workspaceId,
    keys.map(({ runId }) => runId),
    keys.map(({ id }) => id),
  ]);
  const known = new Map(rows.map((row) => [`${row.run_id} ${row.id}`, row]));
  return usages.map(({ runId, agentId, reports }) => {
    const run = runs.get(runId);
    if (!run || run.agent_id !== agentId) return new DroverError('run_not_found');
    const fresh = reports.filter(({ id }) => !known.has(`${runId} ${id}`));
    const other = reports.find((report) => {
      const before = known.get(`${runId} ${report.id}`);
      return before !== undefined && !isSameReport(report, before);
    });
    if (other) return conflictOf(other.id);
    const charge = chargedRun(workspaceId, run, fresh);
    return { run, fresh, repeated: reports.length - fresh.length, charge };
  });
}

async function lockBudgets(
  tx: Transaction,
  workspaceId: string,
  runs: readonly ChargedRun[],
): Promise<Standing[]> {
  const scopes = runs.flatMap((run) => run.scopes.filter((scope) => scope !== null));
  const held = runs.flatMap(({ heldOf }) => heldOf);
  const rows = await tx.rows(lockChargedBudgets, [workspaceId, scopes, held]);
  return rows.map(toStanding);
}

/** The budgets as they are when the settlement has been applied, in their order. */
function charged(budgets: readonly Standing[], settlement: Settlement): Standing[] {
  const changes = new Map(settlement.budgets.map((charge) => [charge.id, charge]));
  return budgets.map((budget) => ({
    ...budget,
    consumed: budget.consumed + (changes.get(budget.id)?.consumed ?? 0n),
    reserved: budget.reserved + (changes.get(budget.id)?.reserved ?? 0n),
  }));
}

/** What hides a secret may be longer than that. */
function asLong(operation: string): string {
  return Array.from(operation).slice(0, MAX_OPERATION).join('');
}

function conflictOf(id: string): DroverError {
  const detail = `A report with the id "${id}" says something else.`;
  return new DroverError('usage_report_conflict', { detail });
}

function asJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
