import { type RuntimeDriver, SpawnError } from './driver.js';
import { ProcessDriver, type ProcessDriverOptions } from './process/process-driver.js';

const DEFAULT_KIND = 'process';

/** Every driver that there is, by the name by which a task chooses it. A new one is a line here. */
const DRIVERS: Record<string, (options: ProcessDriverOptions) => RuntimeDriver> = {
  [DEFAULT_KIND]: (options) => new ProcessDriver(options),
};

export const DRIVER_KINDS = Object.keys(DRIVERS);

/** A driver takes all that lies in its folder for its own. */
function placed(kind: string, options: ProcessDriverOptions): ProcessDriverOptions {
  return kind === DEFAULT_KIND ? options : { ...options, dir: `${options.dir}.${kind}` };
}

/** The drivers of one host. */
export class Drivers {
  private readonly byKind: ReadonlyMap<string, RuntimeDriver>;

  constructor(options: ProcessDriverOptions) {
    this.byKind = new Map(
      Object.entries(DRIVERS).map(([kind, make]) => [kind, make(placed(kind, options))] as const),
    );
  }

  get all(): RuntimeDriver[] {
    return [...this.byKind.values()];
  }

  /**
   * @param kind what a task names
   * @param hint what to try where a task names nothing; a process when there is no such driver
   * @throws SpawnError when this host has no driver of that kind
   */
  choose(kind?: unknown, hint = DEFAULT_KIND): RuntimeDriver {
    const wanted = kind ?? (this.byKind.has(hint) ? hint : DEFAULT_KIND);
    const driver = typeof wanted === 'string' ? this.byKind.get(wanted) : undefined;
    if (driver !== undefined) return driver;
    const known = [...this.byKind.keys()].join(', ');
    throw new SpawnError('setup', `inputContext.kind must be one of ${known}`);
  }
}
