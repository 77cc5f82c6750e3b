import { ConnectionProblem, DroverProblem, type ErrorCode } from '#lib/api-client';
import { EXIT, type ExitCode } from './exit-codes.js';

/** What went wrong and what to do about it, a sentence each. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly advice: string,
    readonly exitCode: ExitCode = EXIT.failed,
  ) {
    super(message);
  }
}

/** A mistake in what was typed. */
export function misuse(message: string, advice = 'Add --help to see what it takes.'): Failure {
  return new Failure(message, advice, EXIT.usage);
}

/** The failure to tell a person for anything that was thrown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof DroverProblem) return refusal(error);
  if (error instanceof ConnectionProblem) {
    const advice =
      'Start Drover with `drover up`, or see with `drover context show` which server is asked.';
    return new Failure(error.message, advice, EXIT.unreachable);
  }
  const { message } = error as Error;
  return new Failure(
    message || String(error),
    'Try again; DROVER_DEBUG=1 shows where it came from.',
  );
}

const SIGN_IN: Partial<Record<ErrorCode, string>> = {
  wrong_token_kind: 'Sign in as a person with `drover login`: an API key is not enough for this.',
};

function refusal({ problem, status, message }: DroverProblem): Failure {
  const fields = (problem.errors ?? []).map(({ field, message: why }) => `\n  ${field}: ${why}`);
  const advice =
    SIGN_IN[problem.code] ??
    (status === 401 ? 'Sign in with `drover login`, or give an API key.' : problem.advice);
  return new Failure(`${message}${fields.join('')}`, advice, exitCodeOf(status));
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401) return EXIT.signIn;
  if (status === 404) return EXIT.notFound;
  return status >= 500 || status === 429 ? EXIT.unreachable : EXIT.refused;
}
