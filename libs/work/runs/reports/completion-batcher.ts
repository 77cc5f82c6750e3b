import { Injectable } from '@nestjs/common';
import { Coalescer, Database } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type Original, writeSecrets } from '#lib/secrets';
import { type PricedUsage, UsageCharges } from '#lib/budgets';
import { HeldWorkspaces } from '../claims/held-workspaces.js';
import { type CompletedRow, type CompletionReport, completeRuns } from './complete-runs.sql.js';

/** A report with its priced usage, and with its original result if the result holds a secret. */
export type Completion = CompletionReport & { original?: Original; usage?: PricedUsage };

type UsingCompletion = Completion & { usage: PricedUsage };

type Outcome = CompletedRow | DroverError | undefined;
type Batch<Item> = (workspaceId: string, completions: readonly Item[]) => Promise<Outcome[]>;

/**
 * Batches completions that arrive at the same time into one statement. Completions with usage lock
 * budgets before they end their runs, so they are separate batches, each in one transaction: no
 * task may be locked behind a budget.
 */
@Injectable()
export class CompletionBatcher {
  private readonly plain = coalescerOf<Completion>((workspaceId, completions) =>
    this.end(workspaceId, completions),
  );
  private readonly withUsage = coalescerOf<UsingCompletion>((workspaceId, completions) =>
    this.recordAndEnd(workspaceId, completions),
  );

  constructor(
    private readonly database: Database,
    private readonly charges: UsageCharges,
    private readonly held: HeldWorkspaces,
  ) {}

  /**
   * @returns undefined when nothing changed: the run is not live, or belongs to another agent
   * @throws DroverError when its usage is refused: `run_not_found`, `usage_report_conflict`
   */
  async complete(
    workspaceId: string,
    { usage, ...report }: Completion,
  ): Promise<CompletedRow | undefined> {
    const outcome = await (usage
      ? this.withUsage.submit(workspaceId, { ...report, usage })
      : this.plain.submit(workspaceId, report));
    if (outcome instanceof DroverError) throw outcome;
    return outcome;
  }

  private async end(workspaceId: string, completions: readonly Completion[]): Promise<Outcome[]> {
    const [rows] = await this.database
      .tenant(workspaceId)
      .pipeline(stepsOf(workspaceId, completions), {
        earlyLockRelease: this.held.has(workspaceId),
      });
    return inOrderOf(completions, rows);
  }

  private recordAndEnd(
    workspaceId: string,
    completions: readonly UsingCompletion[],
  ): Promise<Outcome[]> {
    const usages = completions.map(({ usage }) => usage);
    return this.charges.recordAndEnd(workspaceId, usages, async (tx, refused) => {
      const accepted = completions.filter(({ run_id: id }) => !refused.has(id));
      const [rows] = await tx.pipeline(stepsOf(workspaceId, accepted));
      return inOrderOf(completions, rows, refused);
    });
  }
}

/** By run alone: two agents that both report it completed must not meet in one statement. */
function coalescerOf<Item extends Completion>(run: Batch<Item>): Coalescer<Item, Outcome> {
  return new Coalescer({
    identityOf: (report) => report.run_id,
    run,
  });
}

/** The parameters of `completeRuns` and `completeAllRuns`. */
export function reportParams(workspaceId: string, completions: readonly Completion[]): unknown[] {
  const reports = completions.map(({ original: _, usage: __, ...report }) => report);
  return [workspaceId, JSON.stringify(reports)];
}

function stepsOf(workspaceId: string, completions: readonly Completion[]) {
  const originals = completions.flatMap(({ original }) => original ?? []);
  return [
    [completeRuns, reportParams(workspaceId, completions)],
    ...writeSecrets(workspaceId, originals),
  ] as const;
}

/** The outcomes of changed runs, and refusals, in the order of the completions. */
function inOrderOf(
  completions: readonly Completion[],
  rows: readonly CompletedRow[],
  refused: ReadonlyMap<string, DroverError> = new Map(),
): Outcome[] {
  const byRun = new Map<string, Outcome>(refused);
  for (const row of rows) byRun.set(row.run_id, row);
  return completions.map(({ run_id: id }) => byRun.get(id));
}
