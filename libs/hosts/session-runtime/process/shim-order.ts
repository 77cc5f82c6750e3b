import type { Launch, SessionProgram } from './first-process.js';
import type { NotStarted, Started } from './session-folder.js';

/** The order to a shim on its standard input, as one JSON text. */
export interface ShimOrder extends Launch, SessionProgram {
  /** The session's folder. `launch` is the folder of this attempt to start it. */
  root: string;
  launch: string;
  secrets: string[];
}

/** The answer of a shim on its standard output, in one line. */
export type ShimAnswer =
  | ({ kind: 'started' } & Started)
  | NotStarted
  /** The attempt was voided, and nothing was started. */
  | { kind: 'refused' };
