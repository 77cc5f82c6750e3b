import type { ErrorSpec } from './error-entry.js';
import { type ErrorCode, ERRORS } from './errors.js';

/** One invalid field: `field` is a path such as `inputContext.command[0]`. */
export interface FieldError {
  field: string;
  message: string;
}

/** Members that have a meaning in each problem document. */
type OwnMembers = Partial<Record<OwnMember, never>>;
type OwnMember =
  | 'type'
  | 'title'
  | 'status'
  | 'code'
  | 'detail'
  | 'advice'
  | 'errors'
  | 'instance'
  | 'requestId';

export interface ErrorExtras {
  /** A sentence about this occurrence. It never contains a secret or another tenant's data. */
  detail?: string;
  errors?: FieldError[];
  /** Seconds for the Retry-After header. */
  retryAfterSeconds?: number;
  /** Additional members of the problem document, such as `current` and `legal`. */
  members?: Record<string, unknown> & OwnMembers;
  cause?: unknown;
}

/** An error for clients, sent as application/problem+json (RFC 9457). */
export class DroverError extends Error {
  readonly spec: ErrorSpec;

  constructor(
    readonly code: ErrorCode,
    readonly extras: ErrorExtras = {},
  ) {
    super(extras.detail ?? ERRORS[code].title, { cause: extras.cause });
    this.name = 'DroverError';
    this.spec = ERRORS[code];
  }

  /** The problem document, without `instance` and the request id, which the HTTP layer adds. */
  toProblem(): Record<string, unknown> {
    const { status, title, advice } = this.spec;
    const { detail, errors, members } = this.extras;
    return {
      type: `urn:drover:error:${this.code}`,
      title,
      status,
      code: this.code,
      ...(detail === undefined ? {} : { detail }),
      advice,
      ...(errors === undefined ? {} : { errors }),
      ...members,
    };
  }
}
