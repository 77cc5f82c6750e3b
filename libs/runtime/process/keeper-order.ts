import type { NotStarted, SessionUser, Started } from './session-folder.js';

/** What a keeper is told on its standard input, as one JSON text. */
export interface KeeperOrder {
  sessionId: string;
  /** The session's folder, and that of this attempt to start it. */
  root: string;
  launch: string;
  /** The file to execute, and the name by which the command called it. */
  program: string;
  command: [string, ...string[]];
  env: Record<string, string>;
  secrets: string[];
  /** Who runs the session; the keeper's own user when left out. */
  user?: SessionUser;
}

/** What a keeper answers on its standard output, in one line. */
export type KeeperAnswer =
  | ({ kind: 'started' } & Started)
  | NotStarted
  /** Its attempt was voided: nothing was started. */
  | { kind: 'refused' };
