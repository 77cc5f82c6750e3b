import { setMaxListeners } from 'node:events';

/** What the person or program that runs the worker asks for, by signals. */
export class StopRequests {
  private readonly drainController = new AbortController();
  private readonly hurryController = new AbortController();

  constructor() {
    setMaxListeners(0, this.drain, this.hurry);
  }

  /** Finish what is under way, then end. */
  get drain(): AbortSignal {
    return this.drainController.signal;
  }

  /** Do not wait for what is under way. */
  get hurry(): AbortSignal {
    return this.hurryController.signal;
  }

  /** The first request drains, the second hurries. @returns false when there is nothing more to ask */
  request(): boolean {
    if (this.hurry.aborted) return false;
    if (this.drain.aborted) this.hurryController.abort();
    else this.drainController.abort();
    return true;
  }
}
