import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type BeforeApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { CONFIG, type Config, MAX_LIFETIME_SECONDS } from '#lib/config';
import { Database, type SqlRunner } from '#lib/database';
import { BackgroundLoop, DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import {
  agentSubject,
  type Revocable,
  RevocationList,
  type RevocationRow,
} from '../domain/revocation-list.js';
import { insertRevocations } from './insert-revocations.sql.js';
import { pruneAgentTokens, pruneInvitations, pruneRevocations } from './prune-identity.sql.js';
import { readRevocations, type RevocationRecord } from './read-revocations.sql.js';

const POLL_MS = 1_000;
const PRUNE_MS = 600_000;
const PAGE = 5_000;
/**
 * The minimum for revoked sessions, because access tokens can come from before a change of
 * ACCESS_TOKEN_SECONDS.
 */
const SESSION_SECONDS = 7 * 86_400;
/** A list that is older must not let anybody in, in milliseconds. */
export const MAX_LIST_AGE_MS = 30_000;

/** Notifies other servers of news at once. Without it they look once a second. */
export interface RevocationBus {
  publish(): void;
  /** @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void;
}

export const REVOCATION_BUS = Symbol('REVOCATION_BUS');

/** The revoked object. */
export type Revocation =
  | { kind: 'session'; sessionId: string }
  /** Everything cached about a user or an API key is looked up again. */
  | { kind: 'user'; userId: string }
  | { kind: 'api_key'; apiKeyId: string }
  /**
   * The agent's tokens with a version below `minVersion`, and those of runs that it received
   * before.
   */
  | { kind: 'agent'; workspaceId: string; agentId: string; minVersion: number }
  /** One token of an agent, and those of the runs that were claimed with it. */
  | { kind: 'agent_token'; tokenId: string }
  | { kind: 'run'; runId: string }
  /** The tokens of all its agents and runs. Its members and API keys are looked up again. */
  | { kind: 'workspace'; workspaceId: string };

/**
 * Decides which tokens are refused although signature and age are valid. The rows of
 * token_revocations are the truth. This is a server's copy, at most about a second behind.
 */
@Injectable()
export class Revocations implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly list = new RevocationList();
  private readonly listeners = new Set<(row: RevocationRow) => void>();
  private readonly waits = new Set<{ claims: Revocable; revoked: AbortController }>();
  private readonly heard = new Map<string, number>();
  private cursor = '0';
  private pulledAt = -Infinity;
  private pulling: Promise<void> | undefined;
  private prunedAt = performance.now();
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => this.afterFailure(error),
    { unref: true },
  );
  private failing = false;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identity'>,
    private readonly logger: Logger,
    @Optional() @Inject(REVOCATION_BUS) private readonly bus?: RevocationBus,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.unsubscribe = this.bus?.subscribe(() => void this.pullQuietly());
    await this.pullQuietly();
    this.loop.start(POLL_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.unsubscribe?.();
    await this.loop.stop();
    await this.pulling?.catch(() => undefined);
  }

  /** Whether the token was revoked, as far as this server knows. Reads only memory. */
  isRevoked(claims: Revocable): boolean {
    return this.list.isRevoked(claims);
  }

  /** @throws DroverError `token_revoked` */
  refuse(claims: Revocable): void {
    if (!this.isRevoked(claims)) return;
    const detail = this.list.isClosed(claims.workspaceId)
      ? 'The workspace is archived.'
      : undefined;
    throw new DroverError('token_revoked', { detail });
  }

  /**
   * Runs `work` with a signal that aborts as soon as this server learns that the token was revoked.
   */
  async heeding<T>(claims: Revocable, work: (revoked: AbortSignal) => Promise<T>): Promise<T> {
    const wait = { claims, revoked: new AbortController() };
    this.waits.add(wait);
    try {
      return await work(wait.revoked.signal);
    } finally {
      this.waits.delete(wait);
    }
  }

  /** Whether the list was read recently enough to rely on it. */
  isCurrent(): boolean {
    return performance.now() - this.pulledAt < MAX_LIST_AGE_MS;
  }

  /**
   * Writes revocations in the transaction that ends the object. Call `announce()` after its commit:
   * then they apply here at once, and elsewhere within about a second.
   */
  async revoke(runner: SqlRunner, revocations: readonly Revocation[]): Promise<void> {
    if (revocations.length === 0) return;
    await runner.rows(insertRevocations, [
      revocations.map(({ kind }) => kind),
      revocations.map(subjectOf),
      revocations.map((revocation) => this.secondsToLast(revocation)),
      revocations.map((one) => (one.kind === 'agent' ? one.workspaceId : null)),
    ]);
  }

  /** Call it once the transaction with `revoke()` is committed. Never throws. */
  async announce(): Promise<void> {
    this.bus?.publish();
    await this.pullQuietly();
  }

  /** Reads new revocations. Concurrent calls share one read that starts after they came. */
  async pullNow(): Promise<void> {
    // A running read may have read the table before the caller's rows were committed.
    await this.pulling?.catch(() => undefined);
    this.pulling ??= this.pull().finally(() => (this.pulling = undefined));
    await this.pulling;
  }

  /** Calls back for every revocation that is new to this server. */
  onRevoked(listener: (row: RevocationRow) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private async round(): Promise<number> {
    await this.read();
    if (performance.now() - this.prunedAt > PRUNE_MS) await this.prune();
    return POLL_MS;
  }

  private async pullQuietly(): Promise<void> {
    await this.read().catch((error: unknown) => this.afterFailure(error));
  }

  private async read(): Promise<void> {
    await this.pullNow();
    if (this.failing) this.logger.info('revoked tokens can be read again');
    this.failing = false;
  }

  private afterFailure(error: unknown): number {
    if (!this.failing) this.logger.error('revoked tokens cannot be read', { error });
    this.failing = true;
    return POLL_MS;
  }

  private async pull(): Promise<void> {
    const startedAt = performance.now();
    let from = this.cursor;
    for (;;) {
      const rows = await this.database.service.rows(readRevocations, [from]);
      for (const row of rows) this.apply(row);
      from = rows.at(-1)?.id ?? from;
      if (rows.length < PAGE) break;
    }
    this.pulledAt = startedAt;
    for (const { claims, revoked } of this.waits) if (this.isRevoked(claims)) revoked.abort();
  }

  private apply(record: RevocationRecord): void {
    const row = {
      kind: record.kind,
      subject: record.subject,
      workspaceId: record.agent_workspace_id ?? undefined,
      expiresAt: record.expires_at.getTime(),
    };
    if (record.settled) this.cursor = record.id;
    if (this.heard.has(record.id)) {
      if (record.settled) this.heard.delete(record.id);
      return;
    }
    if (!record.settled) this.heard.set(record.id, row.expiresAt);
    this.list.add(row);
    for (const listener of this.listeners) listener(row);
  }

  private async prune(): Promise<void> {
    this.prunedAt = performance.now();
    const now = Date.now();
    this.list.prune(now);
    for (const [id, expiresAt] of this.heard) if (expiresAt <= now) this.heard.delete(id);
    for (const expired of [pruneRevocations, pruneAgentTokens, pruneInvitations]) {
      await this.database.service.rows(expired).catch((error: unknown) => {
        this.logger.warn('expired revocations, tokens and invitations not removed', { error });
      });
    }
  }

  /** Sessions end often, and a server keeps the list in memory. */
  private secondsToLast({ kind }: Revocation): number {
    const { accessTokenSeconds } = this.config.identity;
    switch (kind) {
      case 'run':
      case 'agent':
      case 'agent_token':
      case 'workspace':
        return MAX_LIFETIME_SECONDS;
      case 'session':
        return Math.max(accessTokenSeconds, SESSION_SECONDS);
      case 'user':
      case 'api_key':
        return accessTokenSeconds;
    }
  }
}

function subjectOf(revocation: Revocation): string {
  switch (revocation.kind) {
    case 'session':
      return revocation.sessionId;
    case 'user':
      return revocation.userId;
    case 'api_key':
      return revocation.apiKeyId;
    case 'agent':
      return agentSubject(revocation.agentId, revocation.minVersion);
    case 'agent_token':
      return revocation.tokenId;
    case 'run':
      return revocation.runId;
    case 'workspace':
      return revocation.workspaceId;
  }
}
