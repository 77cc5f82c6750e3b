import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** Asks for an end without a deadline. The other signals can follow it. */
const FINISH_SIGNAL = 'SIGUSR2';
type Signal = (typeof SIGNALS)[number] | typeof FINISH_SIGNAL;
type Step = 'finish' | 'drain' | 'hurry' | 'end';

/** The requests to stop of the person or program that runs a host, sent by signals. */
export class StopRequests {
  private readonly finishController = new AbortController();
  private readonly drainController = new AbortController();
  private readonly hurryController = new AbortController();

  constructor() {
    setMaxListeners(0, this.finish, this.drain, this.hurry);
  }

  /** Start nothing new, and end after the work under way. Every later step includes it. */
  get finish(): AbortSignal {
    return this.finishController.signal;
  }

  /** The work under way has a deadline. */
  get drain(): AbortSignal {
    return this.drainController.signal;
  }

  /** Resolves when the work under way gets a deadline. */
  untilDrain(): Promise<void> {
    if (this.drain.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.drain.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Do not wait for the work under way. */
  get hurry(): AbortSignal {
    return this.hurryController.signal;
  }

  /**
   * SIGUSR2 asks to finish. Of the other signals the first drains, the second hurries, and
   * `onSignal` gets the third as `end`. It gets each signal.
   *
   * @returns a function that ends listening
   */
  listen(onSignal: (step: Step, signal: Signal, exitCode: number) => void): () => void {
    const listeners = SIGNALS.map((signal) => {
      const exitCode = 128 + constants.signals[signal];
      return [signal, () => onSignal(this.request(), signal, exitCode)] as const;
    });
    const finish = () => {
      this.finishController.abort();
      onSignal('finish', FINISH_SIGNAL, 0);
    };
    const all = [...listeners, [FINISH_SIGNAL, finish] as const];
    for (const [signal, listener] of all) process.on(signal, listener);
    return () => {
      for (const [signal, listener] of all) process.off(signal, listener);
    };
  }

  /** Takes the next step: the first call drains, the second hurries, a later one returns `end`. */
  request(): Step {
    if (this.hurry.aborted) return 'end';
    this.finishController.abort();
    const step = this.drain.aborted ? 'hurry' : 'drain';
    this[`${step}Controller`].abort();
    return step;
  }
}
