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
import { columnOf } from '../store/bounds.js';
import { lockBudgets, toJson } from '../store/lock-budgets.js';
import { lockUsedRuns, type UsedRunRow } from '../store/lock-charged.sql.js';
import { lockAgentsOfRuns } from './lock-agents.sql.js';
import { MAX_ALERTED, tellBudgetAlerts } from '../store/tell-budget-alerts.sql.js';
import { toChargedRun } from './charged-run.js';

/** The reports of one run. */
export interface RunUsage {
  runId: string;
  agentId: string;
  reports: readonly UsageReport[];
}

/** The result of recording the reports of one run. */
export interface UsageOutcome extends Compliance {
  runId: string;
  accepted: number;
  /** The number of reports that were recorded before, with the same values. */
  repeated: number;
}

/** The reports of one run, with their costs. */
export type PricedUsage = Omit<RunUsage, 'reports'> & { reports: readonly PricedReport[] };

/** Ends runs in the transaction that records their usage. It gets the refused reports by run. */
export type Ending<Result> = (
  tx: Transaction,
  refused: ReadonlyMap<string, DroverError>,
) => Promise<Result>;

/** The unit is characters. */
const MAX_OPERATION = 100;

/**
 * Records each report of usage once, settles it against the holds of its run, and charges budgets.
 */
@Injectable()
export class UsageCharges {
  private readonly coalescer: Coalescer<PricedUsage, UsageOutcome | DroverError>;

  constructor(
    private readonly database: Database,
    private readonly prices: ModelPrices,
    private readonly wakeUps: WakeUps,
  ) {
    this.coalescer = new Coalescer({
      // Batches would wait for each other's budgets.
      maxInFlight: 1,
      identityOf: ({ runId }) => runId,
      run: (workspaceId, usages) => this.recordAll(workspaceId, usages),
    });
  }

  /**
   * Records all reports or none, also of an ended run. Concurrent calls share one transaction.
   *
   * @throws DroverError `unknown_model`, `run_not_found` (also for a run of another agent),
   *   `usage_report_conflict`
   */
  async record(workspaceId: string, usage: RunUsage): Promise<UsageOutcome> {
    const outcome = await this.coalescer.submit(workspaceId, await this.price(usage));
    if (outcome instanceof DroverError) throw outcome;
    return outcome;
  }

  /** Adds costs to reports, for `recordAndEnd`. @throws DroverError `unknown_model` */
  async price({ reports, ...run }: RunUsage): Promise<PricedUsage> {
    return { ...run, reports: await Promise.all(reports.map((report) => this.addCost(report))) };
  }

  /**
   * Records the usage of runs in the transaction that ends them. Nobody sees one without the other,
   * so a budget that a run's last report uses up does not stop the run.
   */
  async recordAndEnd<Result>(
    workspaceId: string,
    usages: readonly PricedUsage[],
    end: Ending<Result>,
  ): Promise<Result> {
    const tenant = this.database.tenant(workspaceId);
    const { usedUp, result } = await tenant.transaction(async (tx) => {
      const recorded = await recordInTransaction(tx, workspaceId, usages, { ending: true });
      const refused = new Map<string, DroverError>();
      recorded.outcomes.forEach((outcome, index) => {
        if (outcome instanceof DroverError) refused.set(usages[index]?.runId ?? '', outcome);
      });
      return { ...recorded, result: await end(tx, refused) };
    });
    if (usedUp) this.wakeUps.coordinator();
    return result;
  }

  private async addCost({ costUsd, operation, ...report }: UsageReport): Promise<PricedReport> {
    const now = new Date();
    const own = await this.prices.priceOf(report.model, now);
    const { requestedModel } = report;
    const price = own ?? (requestedModel && (await this.prices.priceOf(requestedModel, now)));
    if (!price) {
      const detail = `The model "${report.model}" has no price.`;
      throw new DroverError('unknown_model', { detail });
    }
    refuseSecretId(report.id);
    return {
      ...report,
      ...(!own && { estimated: true }),
      operation: operation === undefined ? null : truncateOperation(redactText(operation)),
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
      .transaction((tx) => recordInTransaction(tx, workspaceId, usages, { ending: false }));
    // The coordinator applies the policy of the budget to running tasks.
    if (usedUp) this.wakeUps.coordinator();
    return outcomes;
  }
}

/**
 * The history shows the ids. They tell repeated reports from others, so they cannot be redacted.
 *
 * @throws DroverError `validation_failed`
 */
function refuseSecretId(id: string): void {
  if (redactText(id) === id) return;
  const errors = [{ field: 'id', message: 'of a usage report must not contain a secret' }];
  throw new DroverError('validation_failed', { errors });
}

/** One request after its reports were compared with the recorded ones. */
interface Judged {
  run: UsedRunRow;
  fresh: readonly PricedReport[];
  repeated: number;
  charge: ChargedRun;
}

/**
 * @param ending whether the runs end in this transaction, which then locks agents before budgets
 */
async function recordInTransaction(
  tx: Transaction,
  workspaceId: string,
  usages: readonly PricedUsage[],
  { ending }: { ending: boolean },
) {
  const judged = await compareWithRecorded(tx, workspaceId, usages);
  const taken = judged.flatMap((one) => (one instanceof DroverError ? [] : [one]));
  const runs = taken.map(({ charge }) => charge);
  if (ending) await tx.rows(lockAgentsOfRuns, [workspaceId, taken.map(({ run }) => run.agent_id)]);
  const budgets = await lockBudgets(tx, workspaceId, runs);
  const settlement = settle(runs, budgets);
  const rows = taken.flatMap(({ run, fresh }) => fresh.map((report) => logRow(run, report)));
  if (rows.length > 0) {
    const charged = settlement.runs.map(({ requests, ...charge }) => ({
      ...charge,
      requests: requests && columnOf(requests),
    }));
    await tx.pipeline([
      [insertUsage, [workspaceId, JSON.stringify(rows)]],
      [applySettlement, [workspaceId, toJson(charged), toJson(settlement.budgets)]],
      [tellBudgetAlerts, [MAX_ALERTED, workspaceId]],
    ]);
  }
  const after = applyTo(budgets, settlement);
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

/** Compares reports under the locks of their runs, so nobody else writes the same meanwhile. */
async function compareWithRecorded(
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
    const charge = toChargedRun(workspaceId, run, fresh);
    return { run, fresh, repeated: reports.length - fresh.length, charge };
  });
}

/** Returns the budgets after the settlement, in their order. */
function applyTo(budgets: readonly Standing[], settlement: Settlement): Standing[] {
  const changes = new Map(settlement.budgets.map((charge) => [charge.id, charge]));
  return budgets.map((budget) => ({
    ...budget,
    consumed: budget.consumed + (changes.get(budget.id)?.consumed ?? 0n),
    reserved: budget.reserved + (changes.get(budget.id)?.reserved ?? 0n),
  }));
}

/** Redaction can lengthen a text beyond the limit. */
function truncateOperation(operation: string): string {
  return Array.from(operation).slice(0, MAX_OPERATION).join('');
}

function conflictOf(id: string): DroverError {
  const detail = `A report with the id "${id}" says something else.`;
  return new DroverError('usage_report_conflict', { detail });
}
