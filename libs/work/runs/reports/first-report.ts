import type { PipelineOptions, Sql, Step, TenantScope } from '#lib/database';
import type { Reporter } from './reporter.js';
import { startRun } from './start-run.sql.js';

/** The statement of a report, and others for the same transaction. */
type ReportSteps<Row> = readonly [readonly [Sql<Row>, readonly unknown[]], ...Step[]];

/**
 * Runs a report in a transaction of its own. The first report of a run also starts the run, in the
 * same transaction. Only this report takes a second round trip: the first one changes nothing.
 *
 * @param stepsOf its statements, which leave out a task that has not begun if `begunOnly`
 * @param options of a report that does not start its run
 * @returns the row of the report; undefined if the run is not live
 */
export async function reportAndStart<Row>(
  tenant: TenantScope,
  by: Reporter,
  stepsOf: (begunOnly: boolean) => ReportSteps<Row>,
  options?: PipelineOptions,
): Promise<Row | undefined> {
  const [[reported]] = await tenant.pipeline(stepsOf(true), options);
  if (reported) return reported;
  const start: Step = [startRun, [...runParams(by), null, null]];
  const [, [first]] = await tenant.pipeline([start, ...stepsOf(false)]);
  return first;
}

/** The parameters that every statement of a report begins with. */
export function runParams(by: Reporter): unknown[] {
  return [by.workspaceId, by.runId, by.agentId, by.actor.kind, by.actor.id];
}
