/**
 * The order to a sandbox's first process: one line of JSON, then an empty line after the host found
 * the command's process.
 */
export interface InnerOrder {
  program: string;
  command: [string, ...string[]];
  env: Record<string, string>;
  cwd: string;
  /** The ports of the loopback address that lead to services, and the sockets behind them. */
  services: { port: number; socket: string }[];
}

/**
 * The answers, each one line of JSON: `started` or `failed`; after `started` usually `ending`, then
 * `exited`.
 */
export type InnerAnswer =
  /** The process id within the sandbox. */
  | { started: number }
  /** The code of the error; `cwd` if its user cannot enter the working directory. */
  | { failed: string }
  /** The command ends, or has closed its files. Nobody waits for it before the next empty line. */
  | { ending: true }
  | { exited: { exitCode: number | null; signal: NodeJS.Signals | null } };
