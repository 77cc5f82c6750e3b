/** What the exit code says. `run` ends with the exit code of its command instead of `ok` and `failed`. */
export const EXIT = {
  ok: 0,
  /** A task did not complete, or something that has no code of its own. */
  failed: 1,
  /** A word or an option that this command does not know, or a file that cannot be read. */
  usage: 2,
  /** No credentials, or such as are not valid any more. */
  signIn: 3,
  /** The server refused: rights, the state of the thing, a value, a limit. */
  refused: 4,
  notFound: 5,
  /** The server did not answer. */
  unreachable: 6,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
