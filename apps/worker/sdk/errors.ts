import type { components } from '#lib/api-client';
import type { StopOrder } from './types.js';

/** A failure that no retry cures, such as a wrong input. The task fails at once. */
export class FinalError extends Error {
  override readonly name = 'FinalError';
}

/** The run must end: the reason of `ctx.signal`. A handler throws it, or stores a checkpoint before. */
export class RunStopped extends Error implements StopOrder {
  override readonly name = 'RunStopped';
  readonly action: StopOrder['action'];
  readonly reason: string;
  readonly graceSeconds: number;

  constructor({ action, reason, graceSeconds }: StopOrder, message?: string) {
    super(message ?? `The run must end: ${reason}`);
    this.action = action;
    this.reason = reason;
    this.graceSeconds = graceSeconds;
  }
}

/**
 * The provider of a model refuses requests (429, exhausted quota). The run ends without counting an attempt, and
 * all tasks that need the model wait for the provider.
 */
export class ProviderLimitError extends Error {
  override readonly name = 'ProviderLimitError';

  /** @param limit the model of the run and 60 s by default */
  constructor(
    readonly limit: Omit<
      components['schemas']['ReportProviderLimit'],
      'runId' | 'checkpointData' | 'fallbacks'
    > = {},
  ) {
    super(limit.message ?? 'The provider of the model refuses requests');
  }
}
