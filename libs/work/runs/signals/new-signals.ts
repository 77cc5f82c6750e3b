interface Signal {
  runId: string;
  action: 'stop' | 'pause' | 'warn';
}

/** The runs that an answer warns. */
export function warnedIn(runs: readonly Signal[]): ReadonlySet<string> {
  return new Set(runs.flatMap(({ action, runId }) => (action === 'warn' ? [runId] : [])));
}

/**
 * True if an answer holds signals that must not wait. A stop or a pause is new until the agent
 * obeys. A warning is new once: the run goes on, and an agent that asks again must not get an
 * answer at once every time.
 */
export function hasNewSignals(runs: readonly Signal[], warnedBefore: ReadonlySet<string>): boolean {
  return runs.some(({ action, runId }) => action !== 'warn' || !warnedBefore.has(runId));
}

/** A key that identifies a signal. */
export const signalKey = ({ runId, action }: Signal): string => `${runId} ${action}`;

/**
 * The same for an agent that does not name its runs. Nothing shows whether it obeyed, so each
 * signal is new once.
 */
export function hasUnsent(runs: readonly Signal[], sent: ReadonlySet<string>): boolean {
  return runs.some((signal) => !sent.has(signalKey(signal)));
}
