import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnModuleDestroy,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { Doorbell, withAnySignal } from '#lib/kernel';
import { hasNewSignals, warnedIn } from '../../signals/new-signals.js';
import { WakeUps } from '#lib/valkey';
import { heldSessions } from './gateways.sql.js';

export interface GatewaySignal {
  runId: string;
  action: 'stop' | 'pause' | 'warn';
  reason: string;
  graceSeconds: number;
}

/** A wake-up can get lost. A gateway still learns of a cancellation within this time. */
const LOOK_AGAIN_MS = 2_000;

/** The runs whose sessions a gateway has. */
interface Held {
  gatewayId: string;
  runIds: readonly string[];
}

interface Listener {
  /** Absent until the agents are known: then every wake-up concerns it. */
  agents?: ReadonlySet<string>;
  bell: Doorbell;
}

/** Tells gateways at once which sessions to stop, to pause or to warn. */
@Injectable()
export class GatewaySignals implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly listeners = new Set<Listener>();
  private readonly closing = new AbortController();
  private readonly unsubscribe: (() => void)[];

  constructor(
    private readonly database: Database,
    wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {
    this.unsubscribe = [
      wakeUps.onSignals((agentId) => this.ring(({ agents }) => agents?.has(agentId) ?? true)),
      wakeUps.onResync(() => this.ring(() => true)),
    ];
  }

  /**
   * Answers at once if there are signals, otherwise when there are, or empty after `waitMs`. A
   * warning that was due at the first look does not end the wait: each answer repeats it, and must
   * not come early for it.
   *
   * @param gone aborts when the gateway has closed its connection
   */
  wait(gateway: Held, waitMs: number, gone: AbortSignal): Promise<{ runs: GatewaySignal[] }> {
    return withAnySignal([gone, this.closing.signal], (stop) =>
      this.waitUntil(gateway, waitMs, stop),
    );
  }

  beforeApplicationShutdown(): void {
    this.closing.abort();
  }

  onModuleDestroy(): void {
    for (const stop of this.unsubscribe) stop();
  }

  private async waitUntil(
    gateway: Held,
    waitMs: number,
    stop: AbortSignal,
  ): Promise<{ runs: GatewaySignal[] }> {
    const deadline = performance.now() + waitMs;
    const listener: Listener = { bell: new Doorbell() };
    const ring = () => listener.bell.ring();
    stop.addEventListener('abort', ring, { once: true });
    this.listeners.add(listener);
    let warnedBefore: ReadonlySet<string> | undefined;
    try {
      for (;;) {
        const runs = await this.look(gateway, listener);
        warnedBefore ??= warnedIn(runs);
        const left = deadline - performance.now();
        if (hasNewSignals(runs, warnedBefore) || left <= 0 || stop.aborted) return { runs };
        await listener.bell.wait(Math.min(left, LOOK_AGAIN_MS));
      }
    } finally {
      stop.removeEventListener('abort', ring);
      this.listeners.delete(listener);
    }
  }

  private async look(gateway: Held, listener: Listener): Promise<GatewaySignal[]> {
    const params = [gateway.runIds, gateway.gatewayId];
    const held = await this.database.service.rows(heldSessions, params);
    listener.agents = new Set(held.flatMap((one) => one.agent_id ?? []));
    const graceSeconds = this.config.tasks.cancelGraceSeconds;
    return held.flatMap(({ run_id: runId, action, reason }) =>
      action ? [{ runId, action, reason: reason ?? action, graceSeconds }] : [],
    );
  }

  private ring(concerns: (listener: Listener) => boolean): void {
    for (const listener of this.listeners) if (concerns(listener)) listener.bell.ring();
  }
}
