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
   */
  listen(onSignal: (step: Step, signal: Signal, exitCode: number) => void): void {
    process.on(FINISH_SIGNAL, () => {
      this.finishController.abort();
      onSignal('finish', FINISH_SIGNAL, 0);
    });
    for (const signal of SIGNALS) {
      process.on(signal, () => onSignal(this.request(), signal, 128 + constants.signals[signal]));
    }
  }

  private request(): Step {
    if (this.hurry.aborted) return 'end';
    this.finishController.abort();
    const step = this.drain.aborted ? 'hurry' : 'drain';
    this[`${step}Controller`].abort();
    return step;
  }
}
