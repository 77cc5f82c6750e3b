import { Injectable } from '@nestjs/common';
import { Coalescer, Database } from '#lib/database';
import { type Original, writeSecrets } from '#lib/secrets';
import {
  type CompletedRow,
  type CompletionReport,
  completeRuns,
} from './store/complete-runs.sql.js';

const MAX_BATCH = 100;
/** While one is under way the next gathers; a second keeps Postgres busy while this process thinks. */
const MAX_IN_FLIGHT = 2;

/** A report, with the original of its result if that holds a secret. */
export type Completion = CompletionReport & { original?: Original };

/** Reports of finished work that come at the same time, in one statement. */
@Injectable()
export class CompletionBatcher {
  private readonly coalescer: Coalescer<Completion, CompletedRow | undefined>;

  constructor(private readonly database: Database) {
    this.coalescer = new Coalescer({
      maxBatch: MAX_BATCH,
      maxInFlight: MAX_IN_FLIGHT,
      // By its run alone: two agents that both claim to have done it must not meet in one statement.
      identityOf: (report) => report.run_id,
      run: (workspaceId, reports) => this.run(workspaceId, reports),
    });
  }

  /** @returns undefined when nothing was changed: it is not the live run, or not this agent's */
  complete(workspaceId: string, report: Completion): Promise<CompletedRow | undefined> {
    return this.coalescer.submit(workspaceId, report);
  }

  private async run(
    workspaceId: string,
    completions: readonly Completion[],
  ): Promise<(CompletedRow | undefined)[]> {
    const reports = completions.map(({ original: _, ...report }) => report);
    const originals = completions.flatMap(({ original }) => original ?? []);
    const [rows] = await this.database
      .tenant(workspaceId)
      .pipeline([
        [completeRuns, [workspaceId, JSON.stringify(reports)]],
        ...writeSecrets(workspaceId, originals),
      ]);
    const byRun = new Map(rows.map((row) => [row.run_id, row]));
    return reports.map((report) => byRun.get(report.run_id));
  }
}
