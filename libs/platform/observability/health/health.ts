import { Inject, Injectable, Optional } from '@nestjs/common';
import { DroverError } from '#lib/kernel';

/** Resolves when the part answers. Rejects when it does not. */
export type Probe = () => Promise<void>;

export interface CoordinatorHealth {
  /** Whether this deployment has a leading coordinator now. */
  active: boolean;
  lastCycle: Date | null;
  cycleCount: number;
}

/** The coordinator's health. Its library provides it under COORDINATOR_HEALTH. */
export interface CoordinatorHealthSource {
  health(): Promise<CoordinatorHealth>;
}

export const DATABASE_PROBE = Symbol('DATABASE_PROBE');
export const VALKEY_PROBE = Symbol('VALKEY_PROBE');
/** Undefined if no gateway is configured. */
export const GATEWAY_PROBE = Symbol('GATEWAY_PROBE');
/** Warnings about states that will not last; see WarningSource. */
export const HEALTH_WARNINGS = Symbol('HEALTH_WARNINGS');
export const COORDINATOR_HEALTH = Symbol('COORDINATOR_HEALTH');

/** Warnings for an operator. Anybody can read them, so they name no tenant. */
export type WarningSource = () => Promise<string[]>;

/** Milliseconds after which a silent part counts as disconnected. */
const PROBE_TIMEOUT_MS = 2_000;

/** `refusing_changes`: the part answers, but is read-only or full. */
export type PartState = 'connected' | 'disconnected' | 'refusing_changes' | 'not_configured';

/** A probe throws this for a part that answers but accepts no changes. */
export class ChangesRefused extends Error {}

export interface Readiness {
  status: 'ready';
  database: PartState;
  valkey: PartState;
}

export interface SystemHealth {
  status: 'healthy' | 'degraded' | 'unhealthy';
  coordinator: { active: boolean; lastCycle: string | null; cycleCount: number };
  database: PartState;
  valkey: PartState;
  /** `unknown`: the state of gateways is in the database, which does not answer. */
  gateway: 'reachable' | 'unreachable' | 'unknown' | 'not_configured';
  /** Present only if there are warnings. */
  warnings?: string[];
}

/** Answers load balancers and operators. */
@Injectable()
export class Health {
  private shuttingDown = false;

  constructor(
    @Inject(DATABASE_PROBE) private readonly database: Probe,
    @Optional() @Inject(VALKEY_PROBE) private readonly valkey?: Probe,
    @Optional() @Inject(COORDINATOR_HEALTH) private readonly coordinator?: CoordinatorHealthSource,
    @Optional() @Inject(GATEWAY_PROBE) private readonly gateway?: Probe,
    @Optional() @Inject(HEALTH_WARNINGS) private readonly warnings?: WarningSource,
  ) {}

  /** From now on load balancers should send no new requests. */
  beginShutdown(): void {
    this.shuttingDown = true;
  }

  /**
   * Whether requests can be served. Valkey is reported but decides nothing, because everything
   * works without it.
   *
   * @throws DroverError `database_unavailable` or `shutting_down`, both 503
   */
  async readiness(): Promise<Readiness> {
    if (this.shuttingDown) throw new DroverError('shutting_down', { retryAfterSeconds: 5 });
    const [database, valkey] = await Promise.all([stateOf(this.database), stateOf(this.valkey)]);
    if (database !== 'connected') {
      const members = { database, valkey };
      throw new DroverError('database_unavailable', { retryAfterSeconds: 5, members });
    }
    return { status: 'ready', database, valkey };
  }

  /** Never fails, because it reports failures. */
  async system(): Promise<SystemHealth> {
    const [database, valkey, gateway, coordinator, warnings] = await Promise.all([
      stateOf(this.database),
      stateOf(this.valkey),
      stateOf(this.gateway),
      this.coordinatorHealth(),
      this.warn(),
    ]);
    return {
      status: summarize({ database, valkey, gateway }, coordinator.active),
      coordinator: { ...coordinator, lastCycle: coordinator.lastCycle?.toISOString() ?? null },
      database,
      valkey,
      gateway: database === 'connected' ? GATEWAY_STATES[gateway] : unlessKnown(gateway),
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  }

  private async warn(): Promise<string[]> {
    return this.warnings ? inTime(this.warnings()).catch(() => []) : [];
  }

  private async coordinatorHealth(): Promise<CoordinatorHealth> {
    const silent = { active: false, lastCycle: null, cycleCount: 0 };
    if (!this.coordinator) return silent;
    return inTime(this.coordinator.health()).catch(() => silent);
  }
}

const GATEWAY_STATES = {
  connected: 'reachable',
  disconnected: 'unreachable',
  refusing_changes: 'unreachable',
  not_configured: 'not_configured',
} as const satisfies Record<PartState, SystemHealth['gateway']>;

function unlessKnown(gateway: PartState): SystemHealth['gateway'] {
  return gateway === 'disconnected' ? 'unknown' : GATEWAY_STATES[gateway];
}

type Parts = Record<'database' | 'valkey' | 'gateway', PartState>;

function summarize({ database, valkey, gateway }: Parts, led: boolean): SystemHealth['status'] {
  if (database !== 'connected') return 'unhealthy';
  const isWell = (state: PartState) => state === 'connected' || state === 'not_configured';
  return led && isWell(valkey) && isWell(gateway) ? 'healthy' : 'degraded';
}

async function stateOf(probe: Probe | undefined): Promise<PartState> {
  if (!probe) return 'not_configured';
  return inTime(probe()).then(
    () => 'connected',
    (error: unknown) => (error instanceof ChangesRefused ? 'refusing_changes' : 'disconnected'),
  );
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), PROBE_TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
