/** The time for a file, and before the first one. */
const FILE_MS = 30_000;
/** The slowest connection for which a large file has time, in bytes a second. */
const SLOWEST = 524_288;
/** The longest time for all files. */
const MOST_MS = 900_000;

/**
 * The time for the files of a run. Each file that was sent gives the next one its own time, so that
 * many files have more of it than a connection that has stopped.
 */
export class Patience {
  private readonly ending = new AbortController();
  private readonly end: number;
  private timer: NodeJS.Timeout;

  /** @param mostMs the longest time for all files, at least that of one */
  constructor(mostMs = MOST_MS) {
    this.end = performance.now() + Math.max(FILE_MS, Math.min(mostMs, MOST_MS));
    this.timer = this.limit(FILE_MS);
  }

  /** Aborted when the end of the run must be reported. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** The files of other runs come first. Their time is not that of the next file. */
  wait(): void {
    clearTimeout(this.timer);
    this.timer = this.limit(MOST_MS);
  }

  /** A file of this size is sent next, after those before it. */
  begin(bytes: number): void {
    clearTimeout(this.timer);
    this.timer = this.limit(FILE_MS + (bytes / SLOWEST) * 1000);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private limit(ms: number): NodeJS.Timeout {
    const left = Math.max(0, this.end - performance.now());
    return setTimeout(() => this.ending.abort(), Math.min(ms, left));
  }
}

/** The facts of a run that limit the time for its files. */
export interface TimedRun {
  timeoutSeconds: number | null;
  startedAt: string | null;
  stopping: object | null;
}

/**
 * The longest time for the files of a run. The server waits 60 s after a deadline and after a
 * request to stop, and the program has used some of them.
 */
export function timeForFiles({ timeoutSeconds, startedAt, stopping }: TimedRun): number {
  if (stopping !== null) return FILE_MS;
  if (timeoutSeconds === null || startedAt === null) return MOST_MS;
  return Date.parse(startedAt) + timeoutSeconds * 1000 + FILE_MS - Date.now();
}
