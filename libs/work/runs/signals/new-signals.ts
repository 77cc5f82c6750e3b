interface Signal {
  runId: string;
  action: 'stop' | 'pause' | 'warn';
  reason: string;
}

/** A key that identifies a signal. A run can be warned for several reasons, one after another. */
export const signalKey = ({ runId, action, reason }: Signal): string =>
  `${runId} ${action} ${reason}`;

/** The keys of the warnings of an answer. */
export function warnedIn(runs: readonly Signal[]): ReadonlySet<string> {
  return new Set(runs.filter(({ action }) => action === 'warn').map(signalKey));
}

/**
 * True if an answer holds signals that must not wait. A stop or a pause is new until the agent
 * obeys. A warning is new once: the run goes on, and an agent that asks again must not get an
 * answer at once every time.
 */
export function hasNewSignals(runs: readonly Signal[], warnedBefore: ReadonlySet<string>): boolean {
  return runs.some((signal) => signal.action !== 'warn' || !warnedBefore.has(signalKey(signal)));
}

/**
 * The same for an agent that does not name its runs. Nothing shows whether it obeyed, so each
 * signal is new once.
 */
export function hasUnsent(runs: readonly Signal[], sent: ReadonlySet<string>): boolean {
  return runs.some((signal) => !sent.has(signalKey(signal)));
}
