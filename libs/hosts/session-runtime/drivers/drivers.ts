import { type DriverHost, type RuntimeDriver, SpawnError } from './driver.js';
import { ProcessDriver, type ProcessSettings } from '../process/process-driver.js';

/**
 * The settings of each driver. The key is the name by which a task chooses the driver. A new driver
 * has a line here and in DRIVERS.
 */
export interface DriverSettings {
  process: ProcessSettings;
}

const DRIVERS: {
  [Kind in keyof DriverSettings]: (host: DriverHost, own: DriverSettings[Kind]) => RuntimeDriver;
} = {
  process: (host, own) => new ProcessDriver({ ...host, ...own }),
};

const DEFAULT_KIND = 'process';

export const DRIVER_KINDS = Object.keys(DRIVERS) as (keyof DriverSettings)[];

/** The drivers of one host. A driver without settings is absent. */
export class Drivers {
  private readonly byKind = new Map<string, RuntimeDriver>();

  constructor(host: DriverHost, settings: Partial<DriverSettings>) {
    for (const kind of DRIVER_KINDS) this.open(kind, host, settings[kind]);
  }

  get all(): RuntimeDriver[] {
    return [...this.byKind.values()];
  }

  /**
   * @param kind the driver that the task names
   * @param hint the driver if the task names none; if there is no such driver, processes
   * @throws SpawnError if this host has no driver of that kind
   */
  choose(kind?: unknown, hint = DEFAULT_KIND): RuntimeDriver {
    const wanted = kind ?? (this.byKind.has(hint) ? hint : DEFAULT_KIND);
    const driver = typeof wanted === 'string' ? this.byKind.get(wanted) : undefined;
    if (driver !== undefined) return driver;
    const known = [...this.byKind.keys()].join(', ');
    throw new SpawnError('setup', `inputContext.kind must be one of ${known}`);
  }

  private open<Kind extends keyof DriverSettings>(
    kind: Kind,
    host: DriverHost,
    own: DriverSettings[Kind] | undefined,
  ): void {
    if (own === undefined) return;
    const dir = kind === DEFAULT_KIND ? host.dir : `${host.dir}.${kind}`;
    this.byKind.set(kind, DRIVERS[kind]({ ...host, dir }, own));
  }
}
