/** What a sandbox's first process is to start: one line of JSON, and an empty line once it was found. */
export interface InnerOrder {
  program: string;
  command: [string, ...string[]];
  env: Record<string, string>;
  cwd: string;
}

/** What it tells, each in a line of JSON: `started` or `failed`; after `started` mostly `ending`, and `exited`. */
export type InnerAnswer =
  /** The process' number within the sandbox. */
  | { started: number }
  /** The code of the error. */
  | { failed: string }
  /** It ends, or has closed its files: nobody waits for it before there was another empty line. */
  | { ending: true }
  | { exited: { exitCode: number | null; signal: NodeJS.Signals | null } };
