import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CONFIG, type Config } from '#lib/config';
import { Database, mayPass } from '#lib/database';
import { BackgroundLoop, backoffCeiling, fullJitter } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { WebhookSecrets } from '#lib/secrets';
import { type Leased, leaseDue } from '../store/sending.sql.js';
import { Messages } from './messages.js';
import type { Sent } from './notices.js';
import { Settlement } from './settlement.js';
import { judgeTurn, type Made } from './turn.js';

/** Number of concurrent webhooks, and of failing ones among them, which could take all the time. */
const SLOTS = 256;
const FAILING_SLOTS = 64;
/**
 * Milliseconds after which a turn passes its slot on, as long as this limit on turns is not
 * reached.
 */
const SLOW_MS = 500;
const MAX_TURNS = 1_024;
/** Maximum number of concurrent messages of one webhook. */
const MESSAGES = 10;
/** Longer than a turn: its requests end after WEBHOOK_TIMEOUT_MS, 30 s at most. */
const LEASE_SECONDS = 60;
const IDLE = { baseMs: 50, capMs: 1_000 };
const FAILED_MS = 2_000;
/** Pauses between attempts to store results, or to read secrets, while Postgres is away. */
const AWAY = { baseMs: 100, capMs: 1_000 };
/** Time for running turns when the server stops, in milliseconds. The rest is sent again. */
const STOP_MS = 3_000;

/** Sends due messages, in the role `relay`. Any number of servers can do it at once. */
@Injectable()
export class WebhookSenders implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => this.afterFailure(error),
  );
  private readonly turns = new Map<Promise<void>, { failing: boolean; since: number }>();
  private idle = 0;
  private abandoned = false;
  /** The lease of the next round, which also takes the webhooks of a round whose answer was lost. */
  private lease = randomUUID();

  constructor(
    private readonly database: Database,
    private readonly secrets: WebhookSecrets,
    private readonly messages: Messages,
    private readonly settlement: Settlement,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('relay')) this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await Promise.race([Promise.all(this.turns.keys()), delay(STOP_MS, undefined, { ref: false })]);
    this.abandoned = true;
    if (this.turns.size > 0) await this.messages.close();
    await Promise.all(this.turns.keys());
  }

  /** Announces a due message: look now, not at the next poll. */
  nudge(): void {
    this.loop.nudge();
  }

  private async round(): Promise<number> {
    this.idle = (await this.fillSlots()) === 0 ? this.idle + 1 : 0;
    return backoffCeiling(IDLE, this.idle);
  }

  private afterFailure(error: unknown): number {
    this.logger.warn('webhooks not sent, trying again', { error });
    this.idle = 0;
    return FAILED_MS;
  }

  /** @returns the number of filled slots */
  private async fillSlots(): Promise<number> {
    const free = this.freeSlots();
    if (free.all === 0) return 0;
    const params = [free.all, free.failing, this.lease, LEASE_SECONDS, MESSAGES];
    const leased = await this.database.service.rows(leaseDue, params);
    this.lease = randomUUID();
    if (leased.length > 0) await this.begin(leased);
    return leased.length;
  }

  private freeSlots(): { all: number; failing: number } {
    const turns = [...this.turns.values()];
    const slow = performance.now() - SLOW_MS;
    const quick = turns.filter(({ since }) => since > slow).length;
    const all = Math.max(0, Math.min(SLOTS - quick, MAX_TURNS - turns.length));
    const failing = turns.filter((turn) => turn.failing).length;
    return { all, failing: Math.max(0, Math.min(all, FAILING_SLOTS - failing)) };
  }

  private async begin(leased: readonly Leased[]): Promise<void> {
    // If not all can be opened, each turn opens its own, so that a broken one blocks nobody else.
    const opened = await this.open(leased).catch(() => undefined);
    const since = performance.now();
    for (const each of leased) {
      const turn = this.turn(each, opened).finally(() => {
        this.turns.delete(turn);
        this.loop.nudge();
      });
      this.turns.set(turn, { failing: each.failures > 0, since });
    }
  }

  private async open(leased: readonly Leased[]): Promise<Map<string, string[]>> {
    // E-mail has no secret.
    const opening = leased.filter(({ kind }) => kind !== 'email');
    const places = opening.map(({ workspace_id, id }) => ({ workspaceId: workspace_id, id }));
    return this.secrets.valid(this.database.service, places);
  }

  private async openOne(leased: Leased): Promise<string[]> {
    try {
      return (await this.outlast(() => this.open([leased]))).get(leased.id) ?? [];
    } catch (error) {
      this.logger.warn('a webhook’s secret not opened', { ...placeOf(leased), error });
      return [];
    }
  }

  private async turn(leased: Leased, opened: Map<string, string[]> | undefined): Promise<void> {
    try {
      const secrets = opened ? (opened.get(leased.id) ?? []) : await this.openOne(leased);
      const { made, held } = await this.send(leased, secrets);
      // The shutdown cut off the others, which is not the receiver's fault.
      const isDelivered = ({ outcome }: Made): boolean => outcome.kind === 'delivered';
      const counting = this.abandoned ? made.filter(isDelivered) : made;
      const turn = judgeTurn(leased, counting, held);
      // The results wait here while Postgres is away, or the messages would be sent again.
      await this.outlast(() => this.settlement.settle(turn));
    } catch (error) {
      // The lease expires by itself, and the messages are sent again.
      this.logger.warn('results of webhooks not kept', { ...placeOf(leased), error });
    }
  }

  /** Sends nothing if Postgres was away before the first message. The next turn sends it. */
  private send(leased: Leased, secrets: readonly string[]): Promise<Sent> {
    return this.messages.send(leased, secrets).catch((error: unknown) => {
      if (mayPass(error)) return { made: [] };
      throw error;
    });
  }

  /** Repeats work until Postgres is there. @throws its errors if the server stops */
  private async outlast<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (this.abandoned || !mayPass(error)) throw error;
        await delay(fullJitter(AWAY, attempt, Math.random()));
      }
    }
  }
}

function placeOf({ workspace_id: workspaceId, id: webhookId }: Leased) {
  return { workspaceId, webhookId };
}
