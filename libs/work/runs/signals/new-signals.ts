interface Signal {
  runId: string;
  action: 'stop' | 'pause' | 'warn';
}

/** The runs that are warned in an answer. */
export function warnedIn(runs: readonly Signal[]): ReadonlySet<string> {
  return new Set(runs.flatMap(({ action, runId }) => (action === 'warn' ? [runId] : [])));
}

/**
 * Whether an answer holds signals that must not wait. A stop or a pause is new until it was obeyed, a warning
 * once: the run goes on, and an agent that asks again at once must not be answered at once all the time.
 */
export function hasNewSignals(runs: readonly Signal[], warnedBefore: ReadonlySet<string>): boolean {
  return runs.some(({ action, runId }) => action !== 'warn' || !warnedBefore.has(runId));
}

/** One signal in words, to know it again. */
export const wordsOf = ({ runId, action }: Signal): string => `${runId} ${action}`;

/** The same for an agent that does not name its runs: nobody can see whether it obeyed, so each is new once. */
export function hasUntold(runs: readonly Signal[], told: ReadonlySet<string>): boolean {
  return runs.some((signal) => !told.has(wordsOf(signal)));
}
