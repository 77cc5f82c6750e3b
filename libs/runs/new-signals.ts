interface Signal {
  runId: string;
  action: 'stop' | 'pause' | 'warn';
}

const NONE: ReadonlySet<string> = new Set();

/**
 * The runs of an answer about which its agent need not be told at once: those that are warned, and, where the agent
 * names no runs, those that were taken from it before. It may know, and nobody can see whether it obeyed.
 */
export function toldBefore(
  runs: readonly Signal[],
  taken: ReadonlySet<string> = NONE,
): ReadonlySet<string> {
  const known = runs.filter(({ action, runId }) => action === 'warn' || taken.has(runId));
  return new Set(known.map(({ runId }) => runId));
}

/**
 * Whether an answer holds signals that must not wait. A stop or a pause is new until it was obeyed, a warning
 * once: the run goes on, and an agent that asks again at once must not be answered at once all the time.
 *
 * @param taken runs that nobody can see to be obeyed, see `toldBefore`
 */
export function hasNewSignals(
  runs: readonly Signal[],
  before: ReadonlySet<string>,
  taken: ReadonlySet<string> = NONE,
): boolean {
  return runs.some(
    ({ action, runId }) => !before.has(runId) || (action !== 'warn' && !taken.has(runId)),
  );
}
