import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Findings, Tally } from '../findings.js';
import type { PlannedFault } from '../schedule.js';
import { PERFORM, type Scene } from './perform.js';

export interface StormOptions {
  scene: Omit<Scene, 'wait'>;
  durationMs: number;
  signal: AbortSignal;
  faults: Tally;
  findings: Findings;
  tell: (text: string) => void;
}

/**
 * Performs the faults of a schedule, each at its time. Resolves when the time has passed and all
 * are undone.
 */
export async function storm(plan: readonly PlannedFault[], options: StormOptions): Promise<void> {
  const { signal, durationMs } = options;
  // All faults of the schedule wait for it.
  setMaxListeners(0, signal);
  const began = performance.now();
  const untilMs = (ms: number): Promise<void> =>
    delay(Math.max(0, ms - (performance.now() - began)), undefined, { signal });
  const wait = (ms: number): Promise<void> => delay(ms, undefined, { signal });
  const scene: Scene = { ...options.scene, wait };
  const performances = plan.map(async (fault) => {
    await untilMs(fault.atMs);
    await perform(scene, fault, options);
  });
  await Promise.all([...performances, untilMs(durationMs)]);
}

async function perform(
  scene: Scene,
  fault: PlannedFault,
  { signal, faults, findings, tell }: StormOptions,
): Promise<void> {
  const lasts = fault.lastsMs > 0 ? ` for ${(fault.lastsMs / 1_000).toFixed(1)} s` : '';
  tell(`${(fault.atMs / 1_000).toFixed(1)} s: ${fault.kind}${lasts}`);
  try {
    await PERFORM[fault.kind](scene, fault);
    faults.add(fault.kind);
  } catch (error) {
    if (signal.aborted) throw error;
    // The run would continue with less than it promises.
    findings.add('performed', fault.kind, String(error));
  }
}
