import { DroverError } from '#lib/kernel';
import type { SpawnAgentDto, SpawnSessionDto } from '../http/dto/spawn.dto.js';
import type { ListSessionsQuery } from '../http/dto/sessions.dto.js';
import type { GatewayConfig } from '../config.js';
import type { Dispatcher } from './dispatcher.js';
import { failUnstarted } from './spawned-session.js';
import { hasEnded, type SessionRecord, type SessionView, toView } from './domain/session.js';
import { freeSession, secretValues, sessionOfTask } from './new-session.js';
import type { SessionBook } from './session-book.js';
import type { Tenants } from './tenants.js';

/** A slot becomes free at the end of some session, and nobody knows when. */
const RETRY_FULL_SECONDS = 10;
/** A restarted gateway, or another one, answers by then. */
const RETRY_DRAINING_SECONDS = 15;

export interface Spawned {
  session: SessionView;
  /** True if the session existed already. */
  known: boolean;
}

export interface ServiceOptions {
  config: GatewayConfig;
  gatewayId: string;
  book: SessionBook;
  dispatcher: Dispatcher;
  tenants: Tenants;
  /** Called when a report for the server exists. */
  onReport: () => void;
}

/** The server's requests to the gateway. */
export class SessionsService {
  private draining = false;
  /** The only workspace that is served if nothing isolates workspaces. */
  private firstWorkspace: string | null | undefined;
  private readonly config: GatewayConfig;
  private readonly book: SessionBook;
  private readonly dispatcher: Dispatcher;

  constructor(private readonly options: ServiceOptions) {
    ({ config: this.config, book: this.book, dispatcher: this.dispatcher } = options);
  }

  /** Refuses new sessions from now on. */
  beginDrain(): void {
    this.draining = true;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /**
   * Starts or queues the session of a run; for a known run, returns its session. A task without a
   * run has one session at a time. It is synchronous, so two requests cannot both find the run
   * unknown.
   *
   * @throws DroverError `gateway_draining` or `resource_exhausted` if there is no session yet;
   *   `validation_failed`
   */
  spawnForTask(body: SpawnAgentDto): Spawned {
    const { runId, taskId } = body;
    const known = runId === undefined ? this.book.findByTask(taskId) : this.book.find(runId);
    if (known !== undefined) return { session: this.viewOf(known), known: true };
    return this.accept(sessionOfTask(body, this.identity()));
  }

  /** @throws DroverError `gateway_draining` or `resource_exhausted` */
  spawn(body: SpawnSessionDto): Spawned {
    return this.accept(freeSession(body, this.identity()));
  }

  list({ status, runId }: ListSessionsQuery): SessionView[] {
    return this.book
      .all()
      .filter((one) => status === undefined || one.status === status)
      .filter((one) => runId === undefined || one.runId === runId)
      .reverse()
      .map((record) => this.viewOf(record));
  }

  /** @throws DroverError `session_not_found` */
  get(id: string): SessionView {
    return this.viewOf(this.require(id));
  }

  /**
   * Asks a session to end. Has no effect if it is ending or has ended.
   *
   * @param id the id or the label of the session, or the id of its run
   * @throws DroverError `session_not_found`
   */
  stop(id: string, graceSeconds: number | undefined): SessionView {
    const record = this.book.find(id) ?? this.book.findByLabel(id) ?? this.require(id);
    const grace = graceSeconds ?? record.graceSeconds;
    const message = 'stopped through the API';
    this.dispatcher.stop(record, { kind: 'asked', reason: 'asked', message }, grace);
    return this.viewOf(record);
  }

  private accept(record: SessionRecord): Spawned {
    this.refuseWhenFull();
    const refusal = this.whyNotServed(record) ?? this.whyNotAllowed(record.order?.command[0] ?? '');
    if (refusal !== undefined) failUnstarted(record, { class: 'setup', message: refusal });
    this.book.add(record);
    if (hasEnded(record)) this.options.onReport();
    else this.dispatcher.add(record);
    return { session: this.viewOf(record), known: false };
  }

  private refuseWhenFull(): void {
    if (this.draining) {
      throw new DroverError('gateway_draining', { retryAfterSeconds: RETRY_DRAINING_SECONDS });
    }
    const { capacity, queueLimit } = this.config;
    const { running, queued } = this.dispatcher;
    if (running < capacity || queued < queueLimit) return;
    throw new DroverError('resource_exhausted', {
      detail: `ResourceExhausted: ${running} sessions run and ${queued} wait.`,
      retryAfterSeconds: RETRY_FULL_SECONDS,
      members: { running, queued },
    });
  }

  private whyNotServed({ workspaceId }: SessionRecord): string | undefined {
    this.firstWorkspace ??= this.book
      .all()
      .find(
        (one) => one.workspaceId !== null && (one.startedAt !== null || !hasEnded(one)),
      )?.workspaceId;
    const refusal = this.options.tenants.whyNot(workspaceId, this.firstWorkspace ?? undefined);
    if (refusal === undefined) this.firstWorkspace ??= workspaceId;
    return refusal;
  }

  private whyNotAllowed(program: string): string | undefined {
    const allowed = this.config.allowedExecutables;
    if (allowed === undefined || allowed.includes(program)) return undefined;
    const name = program.slice(0, 200).toWellFormed();
    return `This gateway cannot start the program "${name}" (GATEWAY_ALLOWED_EXECUTABLES)`;
  }

  private require(id: string): SessionRecord {
    const record = this.book.find(id);
    if (record === undefined) throw new DroverError('session_not_found');
    return record;
  }

  private viewOf(record: SessionRecord): SessionView {
    return toView(record, this.dispatcher.lastActivityAt(record.id));
  }

  private identity() {
    return {
      sessionKeyPrefix: `gateway:${this.options.gatewayId}`,
      apiUrl: this.config.sessionsApiUrl,
      graceSeconds: this.config.graceSeconds,
      defaultCommand: this.config.defaultCommand,
      passedSecrets: secretValues(this.config.passedEnv),
    };
  }
}
