import { Cycle, type CycleReport, Leadership } from '#lib/coordinator';
import { EVERYWHERE, type SweepScope } from '#lib/transitions';
import type { Core } from './core.js';
import type { Site } from './site.js';
import { HEARTBEAT } from './tables.js';

export interface TimedCycle {
  ms: number;
  report: CycleReport;
}

/** Runs one cycle of the coordinator over a fleet whose agents have all just sent heartbeats. */
export async function runCycle(
  site: Site,
  core: Core,
  scope: SweepScope = EVERYWHERE,
): Promise<TimedCycle> {
  await site.owner.query(HEARTBEAT);
  const leadership = core.get(Leadership);
  if (!(await leadership.keep())) throw new Error('Somebody else leads');
  const start = performance.now();
  const report = await core.get(Cycle).run(leadership.fence(), async () => {}, scope);
  const ms = performance.now() - start;
  const failed = report.steps.find((step) => step.error !== null);
  if (failed) throw new Error(`The step ${failed.step} failed: ${failed.error}`);
  return { ms, report };
}
