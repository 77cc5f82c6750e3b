interface Signal {
  runId: string;
  action: 'stop' | 'pause' | 'warn';
  reason: string;
  /** A pause that waits for the end of the turn. */
  afterTurn?: boolean;
}

/** What the agent of a run knows already. */
interface Known {
  runId: string;
  pausesAfterTurn?: boolean;
}

/** A key that identifies a signal. A run can be warned for several reasons, one after another. */
export const signalKey = ({ runId, action, reason, afterTurn }: Signal): string =>
  `${runId} ${action} ${afterTurn === true} ${reason}`;

/** The keys of the warnings of an answer. */
export function warnedIn(runs: readonly Signal[]): ReadonlySet<string> {
  return new Set(runs.filter(({ action }) => action === 'warn').map(signalKey));
}

/**
 * True if an answer holds signals that must not wait. A stop or a pause is new until the agent
 * obeys. A warning is new once: the run goes on, and an agent that asks again must not get an
 * answer at once every time. A pause after the turn is new until the agent knows it, and its
 * withdrawal as well.
 */
export function hasNewSignals(
  runs: readonly Signal[],
  warnedBefore: ReadonlySet<string>,
  known: readonly Known[] = [],
): boolean {
  const pausing = runs.flatMap(({ runId, afterTurn }) => (afterTurn === true ? [runId] : []));
  const toPause = known.flatMap(({ runId, pausesAfterTurn }) =>
    pausesAfterTurn === true ? [runId] : [],
  );
  const isNew = (signal: Signal) => {
    if (signal.afterTurn === true) return !toPause.includes(signal.runId);
    return signal.action !== 'warn' || !warnedBefore.has(signalKey(signal));
  };
  return runs.some(isNew) || toPause.some((runId) => !pausing.includes(runId));
}

/**
 * The same for an agent that does not name its runs. Nothing shows whether it obeyed, so each
 * signal is new once.
 */
export function hasUnsent(runs: readonly Signal[], sent: ReadonlySet<string>): boolean {
  return runs.some((signal) => !sent.has(signalKey(signal)));
}
