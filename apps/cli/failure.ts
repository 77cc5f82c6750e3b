import { ConnectionProblem, DroverProblem, type ErrorCode, type Problem } from '#lib/api-client';
import { startCommand } from './contexts/local.js';
import { adviceFor, nameOfField } from './advice.js';
import type { CommandSpec } from './command.js';
import { EXIT, type ExitCode } from './exit-codes.js';

type Spec = Pick<CommandSpec, 'usage' | 'options'>;

const FILE_ERRORS = ['ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES'];

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

/** Converts any thrown error to a failure for users. @param spec the command that failed */
export function toFailure(error: unknown, spec?: Spec): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof DroverProblem) return describeProblem(error, spec);
  if (error instanceof ConnectionProblem) {
    const advice = `Start Drover with \`${startCommand()}\`, or check the server with \`drover context show\`.`;
    return new Failure(error.message, advice, EXIT.unreachable);
  }
  const { message, code = '' } = error as NodeJS.ErrnoException;
  if (FILE_ERRORS.includes(code)) {
    return usageError(message, 'Check that the file exists and is readable.');
  }
  return new Failure(
    message || String(error),
    'Try again. Set DROVER_DEBUG=1 to print the stack trace.',
  );
}

/** Gives an error other words. Its exit code and its stack trace stay. */
export function reword(
  error: unknown,
  words: (failure: Failure) => { message?: string; advice?: string },
): Failure {
  const failure = toFailure(error);
  const { message, advice } = { ...failure, message: failure.message, ...words(failure) };
  const reworded = new Failure(message, advice, failure.exitCode);
  reworded.stack = (error as Error).stack ?? '';
  return reworded;
}

/** Refusals whose detail says all that the title says. */
const TITLE_IN_DETAIL: readonly ErrorCode[] = ['illegal_transition', 'wrong_token_kind'];

function describeProblem(error: DroverProblem, spec?: Spec): Failure {
  const { problem, status, code } = error;
  const fields = (problem.errors ?? []).map(
    ({ field, message }) => `\n  ${spec ? nameOfField(field, spec) : field}: ${message}`,
  );
  const detail = TITLE_IN_DETAIL.includes(code) ? problem.detail : undefined;
  const advice = status === 401 ? describeSignIn(problem) : adviceFor(problem);
  return new Failure(`${detail ?? error.message}${fields.join('')}`, advice, toExitCode(status));
}

function describeSignIn({ code, detail }: Problem): string {
  if (code !== 'wrong_token_kind') return 'Sign in with `drover login`, or set an API key.';
  const isForUsers = /token of [^,]*\ba user\b/.test(detail ?? '');
  return isForUsers
    ? 'Sign in with `drover login`.'
    : 'Set such a token, or choose another context.';
}

function toExitCode(status: number): ExitCode {
  if (status === 401) return EXIT.signIn;
  if (status === 404) return EXIT.notFound;
  return status >= 500 || status === 429 ? EXIT.unreachable : EXIT.refused;
}
