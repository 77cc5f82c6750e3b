import { ConnectionProblem, DroverProblem, type ErrorCode } from '#lib/api-client';
import { EXIT, type ExitCode } from './exit-codes.js';

/** An error for users: what failed, then what to do. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly advice: string,
    readonly exitCode: ExitCode = EXIT.failed,
  ) {
    super(message);
  }
}

/** An error in the command line. */
export function usageError(
  message: string,
  advice = 'Run the command with --help to see its usage.',
): Failure {
  return new Failure(message, advice, EXIT.usage);
}

/** Converts any thrown error to a failure for users. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof DroverProblem) return describeProblem(error);
  if (error instanceof ConnectionProblem) {
    const advice = 'Start Drover with `drover up`, or check the server with `drover context show`.';
    return new Failure(error.message, advice, EXIT.unreachable);
  }
  const { message } = error as Error;
  return new Failure(
    message || String(error),
    'Try again. Set DROVER_DEBUG=1 to print the stack trace.',
  );
}

const SIGN_IN: Partial<Record<ErrorCode, string>> = {
  wrong_token_kind: 'Sign in as a user with `drover login`. An API key is not sufficient.',
};

function describeProblem({ problem, status, message }: DroverProblem): Failure {
  const fields = (problem.errors ?? []).map(({ field, message: why }) => `\n  ${field}: ${why}`);
  const advice =
    SIGN_IN[problem.code] ??
    (status === 401 ? 'Sign in with `drover login`, or set an API key.' : problem.advice);
  return new Failure(`${message}${fields.join('')}`, advice, toExitCode(status));
}

function toExitCode(status: number): ExitCode {
  if (status === 401) return EXIT.signIn;
  if (status === 404) return EXIT.notFound;
  return status >= 500 || status === 429 ? EXIT.unreachable : EXIT.refused;
}
