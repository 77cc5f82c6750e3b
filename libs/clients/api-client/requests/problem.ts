import type { components } from '../generated/api.js';

export type Problem = components['schemas']['Problem'];
export type ErrorCode = components['schemas']['ErrorCode'];

/**
 * A refusal by the server, with its reason and a remedy. Decide by `code`: the list of codes is
 * closed.
 */
export class DroverProblem extends Error {
  override readonly name = 'DroverProblem';

  constructor(
    readonly problem: Problem,
    /** The time after which the server accepts a retry, in seconds, if it names one. */
    readonly retryAfterSeconds: number | undefined,
  ) {
    super([problem.title, problem.detail].filter(Boolean).join(': '));
  }

  get code(): ErrorCode {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }
}

/** No whole answer of Drover arrived, so the outcome of the request is unknown. */
export class ConnectionProblem extends Error {
  override readonly name = 'ConnectionProblem';
  /** The status of an answer that is not Drover's. A proxy that sheds load answers 429, too. */
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, options: ErrorOptions & { answer?: Response } = {}) {
    super(message, options);
    this.status = options.answer?.status;
    this.retryAfterSeconds = options.answer && retryAfterOf(options.answer);
  }
}

/** Returns the seconds of `Retry-After`. A date is ignored, because clocks can differ. */
export function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
