import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
type Signal = (typeof SIGNALS)[number];

/** The requests to stop of the person or program that runs a host, sent by signals. */
export class StopRequests {
  private readonly drainController = new AbortController();
  private readonly hurryController = new AbortController();

  constructor() {
    setMaxListeners(0, this.drain, this.hurry);
  }

  /** Finish the work under way, then end. */
  get drain(): AbortSignal {
    return this.drainController.signal;
  }

  /** Do not wait for the work under way. */
  get hurry(): AbortSignal {
    return this.hurryController.signal;
  }

  /** The first signal drains, the second hurries. `onSignal` gets each one, the third as `end`. */
  listen(onSignal: (step: 'drain' | 'hurry' | 'end', signal: Signal, exitCode: number) => void) {
    for (const signal of SIGNALS) {
      process.on(signal, () => onSignal(this.request(), signal, 128 + constants.signals[signal]));
    }
  }

  private request(): 'drain' | 'hurry' | 'end' {
    if (this.hurry.aborted) return 'end';
    const step = this.drain.aborted ? 'hurry' : 'drain';
    this[`${step}Controller`].abort();
    return step;
  }
}
