import type { Measured } from './figure.js';
import type { Rig } from './rig.js';

export interface Benchmark {
  /** The name, as `--only` takes it. */
  name: string;
  /** Prints a line of progress. */
  what: string;
  run(rig: Rig): Promise<Measured[]>;
}
