/** Exit codes. `run` exits with the code of its command instead of `ok` and `failed`. */
export const EXIT = {
  ok: 0,
  /** A task did not complete, or an error without its own code occurred. */
  failed: 1,
  /** An unknown command or option, or an unreadable file. */
  usage: 2,
  /** Missing or expired credentials. */
  signIn: 3,
  /** The server refused the request: rights, state, an invalid value or a limit. */
  refused: 4,
  notFound: 5,
  /** The server did not answer. */
  unreachable: 6,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
