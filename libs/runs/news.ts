interface Told {
  runId: string;
  action: 'stop' | 'pause' | 'warn';
}

/** The runs that are warned in an answer. */
export function warnedIn(runs: readonly Told[]): ReadonlySet<string> {
  return new Set(runs.flatMap(({ action, runId }) => (action === 'warn' ? [runId] : [])));
}

/**
 * Whether an answer says what must not wait. A stop or a pause is news until it was obeyed; a warning is news
 * once, since the run goes on, and whoever asks again at once shall not be answered at once all the time.
 */
export function hasNews(runs: readonly Told[], warnedBefore: ReadonlySet<string>): boolean {
  return runs.some(({ action, runId }) => action !== 'warn' || !warnedBefore.has(runId));
}
