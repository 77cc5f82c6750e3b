import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnModuleInit,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CONFIG, type Config } from '#lib/config';
import { EventStream } from '#lib/http';
import { type AuthenticatedRequest, type Standing, Standings } from '#lib/identity';
import { actorOf, type Caller, DroverError } from '#lib/kernel';
import { instruments } from '#lib/observability';

const HEARTBEAT_MS = 15_000;
/** Interval at which expired tokens and changes are handled, in milliseconds. */
const TICK_MS = 1_000;
const RETRY_AFTER_SECONDS = 5;

export type StreamKind = 'events' | 'logs';

/** An open stream of a client at this server. */
export interface OpenStream extends EventStream {
  /** The position for heartbeats. Undefined means the position of the last event. */
  place?: () => string;
}

interface Entry {
  stream: OpenStream;
  standing: Standing;
  beatAt: number;
}

/**
 * The open streams of this server: limited in number, and each only while its client stays
 * admitted. A stream ends within seconds when a new request would be refused.
 */
@Injectable()
export class Streams implements OnModuleInit, BeforeApplicationShutdown {
  private readonly entries = new Set<Entry>();
  private readonly counts = new Map<string, number>();
  private ticking: NodeJS.Timeout | undefined;
  private somethingChanged = false;
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly standings: Standings,
    @Inject(CONFIG) private readonly config: Pick<Config, 'http'>,
  ) {}

  onModuleInit(): void {
    this.stopListening = this.standings.onChange(() => (this.somethingChanged = true));
  }

  /** Clients reconnect by themselves to another server. */
  beforeApplicationShutdown(): void {
    this.stopListening?.();
    clearInterval(this.ticking);
    for (const { stream } of this.entries) stream.end();
  }

  /**
   * Opens a stream for a request that the guard has admitted.
   *
   * @throws DroverError `too_many_streams`
   */
  open(kind: StreamKind, request: AuthenticatedRequest, reply: FastifyReply): OpenStream {
    const subject = subjectOf(request.caller as Caller);
    const { workspaceId } = request.caller as Caller;
    const tenant = `workspace:${workspaceId}`;
    this.requirePlace(subject, tenant);
    const standing = this.standings.of(request);
    const stream: OpenStream = new EventStream(request, reply);
    if (stream.ended.aborted) return stream;
    const entry = { stream, standing, beatAt: performance.now() };
    this.entries.add(entry);
    this.count(subject, 1);
    this.count(tenant, 1);
    instruments.streamsOpen.inc({ kind });
    stream.ended.addEventListener('abort', () => {
      this.entries.delete(entry);
      this.count(subject, -1);
      this.count(tenant, -1);
      instruments.streamsOpen.dec({ kind });
    });
    this.ticking ??= setInterval(() => this.tick(), TICK_MS).unref();
    return stream;
  }

  private requirePlace(subject: string, tenant: string): void {
    const detail = this.whyNoPlace(subject, tenant);
    if (detail === undefined) return;
    throw new DroverError('too_many_streams', { detail, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  private whyNoPlace(subject: string, tenant: string): string | undefined {
    const { maxStreams, maxStreamsPerCaller, maxStreamsPerWorkspace } = this.config.http;
    if ((this.counts.get(subject) ?? 0) >= maxStreamsPerCaller)
      return `You have ${maxStreamsPerCaller} open at this server.`;
    if ((this.counts.get(tenant) ?? 0) >= maxStreamsPerWorkspace)
      return `The workspace has ${maxStreamsPerWorkspace} open at this server.`;
    return this.entries.size < maxStreams ? undefined : `This server has ${maxStreams} open.`;
  }

  private count(subject: string, by: 1 | -1): void {
    const count = (this.counts.get(subject) ?? 0) + by;
    if (count === 0) this.counts.delete(subject);
    else this.counts.set(subject, count);
  }

  private tick(): void {
    const all = this.somethingChanged;
    this.somethingChanged = false;
    const now = performance.now();
    for (const entry of this.entries) {
      const { endsAt = Infinity } = entry.standing;
      const isDue = now - entry.beatAt >= HEARTBEAT_MS;
      if (isDue) {
        entry.beatAt = now;
        entry.stream.heartbeat(entry.stream.place?.());
      }
      if (all || isDue || endsAt <= Date.now()) void this.check(entry);
    }
  }

  /**
   * An error that says nothing about the client, such as an outage, ends no stream. No events
   * arrive then either.
   */
  private async check(entry: Entry): Promise<void> {
    try {
      await entry.standing.check();
    } catch (error) {
      if (error instanceof DroverError && error.spec.status < 500) endWith(entry.stream, error);
    }
  }
}

/** Ends a stream with an event `end` that contains the problem of a refused request. */
export function endWith(stream: EventStream, problem: DroverError): void {
  stream.end({ event: 'end', data: problem.toProblem() });
}

function subjectOf(caller: Caller): string {
  const { kind, id } = actorOf(caller);
  return `${kind}:${id}`;
}
