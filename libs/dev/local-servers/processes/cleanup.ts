type Cleanup = () => Promise<void>;

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type EndingSignal = keyof typeof EXIT_CODES;
const SAME_SIGNAL_MS = 1_000;
const SIGNALS = Object.keys(EXIT_CODES) as EndingSignal[];

const scopes = new Set<CleanupScope>();
/** The time of the first signal on the monotonic clock. */
let endingSince: number | undefined;

/** Undo steps for the end of the work, whatever the end is. */
export class CleanupScope {
  private readonly cleanups: Cleanup[] = [];
  private running: Promise<void> | undefined;
  private readonly controller = new AbortController();

  /** Aborted when the process was asked to end: start nothing new. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Undone in reverse order. Add it before, or together with, the step that it undoes. */
  add(cleanup: Cleanup): void {
    this.cleanups.push(cleanup);
    if (this.signal.aborted) void this.run();
  }

  /** @internal */
  abort(): void {
    this.controller.abort();
  }

  /**
   * @internal Runs every cleanup, even if some fail.
   */
  run(): Promise<void> {
    this.running = (this.running ?? Promise.resolve()).then(() => this.runAll());
    return this.running;
  }

  private async runAll(): Promise<void> {
    for (let next = this.cleanups.pop(); next; next = this.cleanups.pop()) {
      await next().catch((error: unknown) => {
        process.stderr.write(`while cleaning up: ${String(error)}\n`);
      });
    }
  }
}

/**
 * Runs `body`, then the cleanups in its scope, also when it throws, and on SIGINT, SIGTERM or
 * SIGHUP, after which the process exits with 128 plus the signal's number. A second signal, a
 * second later, exits at once, which is safe, because supervisors finish the rest.
 */
export async function withCleanup<T>(body: (scope: CleanupScope) => Promise<T>): Promise<T> {
  const scope = new CleanupScope();
  listenOnce();
  scopes.add(scope);
  try {
    return await body(scope);
  } finally {
    await scope.run();
    // Once the process ends, neither a result nor an error of the interrupted work counts.
    if (endingSince !== undefined) await new Promise<never>(() => undefined);
    scopes.delete(scope);
    if (scopes.size === 0) stopListening();
  }
}

function listenOnce(): void {
  if (scopes.size > 0) return;
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function stopListening(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function onSignal(signal: NodeJS.Signals): void {
  const code = EXIT_CODES[signal as EndingSignal];
  if (endingSince === undefined) {
    endingSince = performance.now();
    void endAll().finally(() => process.exit(code));
    return;
  }
  // Under npm one Ctrl-C arrives twice: from the terminal and from npm.
  if (performance.now() - endingSince > SAME_SIGNAL_MS) process.exit(code);
}

async function endAll(): Promise<void> {
  for (const scope of scopes) scope.abort();
  await Promise.all([...scopes].map((scope) => scope.run()));
}
