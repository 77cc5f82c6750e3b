import fc from 'fast-check';
import { readFaultTimes } from '../../support/fault-times.js';

const { env } = process;
const SEED = env['DROVER_MODEL_SEED'];
const PATH = env['DROVER_MODEL_PATH'];

/** The length of the walks. */
export const SECONDS = Number(env['DROVER_MODEL_SECONDS'] ?? readFaultTimes().modelSeconds);

/**
 * The steps of the walk to replay. fast-check leaves out the steps that were impossible when it
 * failed.
 */
export const STEPS = env['DROVER_MODEL_STEPS'];

/** With a seed all walks are replayed, with a path only the one that failed. */
export const WALKS = {
  numRuns: 1_000_000,
  interruptAfterTimeLimit: SECONDS * 1_000,
  markInterruptAsFailure: false,
  ...(SEED !== undefined && { seed: Number(SEED) }),
  ...(PATH !== undefined && { path: PATH, endOnFailure: true }),
};

/**
 * @throws the failure, with the line that reproduces it
 */
export async function report<Ts>(details: fc.RunDetails<Ts>): Promise<void> {
  if (!details.failed) return;
  const message = await fc.asyncDefaultReportMessage(details);
  throw new Error(`${message}\n\nAgain, and only this:\n\n    ${replayLine(details)}`, {
    cause: details.errorInstance,
  });
}

function replayLine<Ts>(details: fc.RunDetails<Ts>): string {
  const { seed, counterexamplePath: path, counterexample } = details;
  const steps = /replayPath="(.*)"/.exec(fc.stringify(counterexample))?.[1];
  const values = [
    `DROVER_MODEL_SEED=${seed}`,
    ...(path === null ? [] : [`DROVER_MODEL_PATH='${path}'`]),
    ...(steps === undefined ? [] : [`DROVER_MODEL_STEPS='${steps}'`]),
  ];
  return `${values.join(' ')} npm test -- test/faults/model`;
}
