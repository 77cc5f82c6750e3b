import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { JournalTail } from '#lib/journal';
import { textOf } from '#lib/http';
import type { AuthenticatedRequest } from '#lib/identity';
import { type Caller, Doorbell, DroverError, encodeCursor } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { type LogFilter, TaskHistory } from '#lib/task-manager';
import { WakeUps } from '#lib/valkey';
import { placeAfter } from '../domain/event-filter.js';
import { type Loss, lossOf } from '../domain/loss.js';
import { endWith, type OpenStream, Streams } from './streams.js';

const PAGE = 100;
/**
 * Interval between two reads of a log without a wake-up: 1 s while it grows, up to 5 s while it does
 * not.
 */
const LOOK_MS = { least: 1_000, most: 5_000 };
/** Entries of this age are sent, even if a slower transaction could still precede them (ADR 31). */
const SETTLED_MS = 2_000;

interface LogRequest {
  taskId: string;
  /** The id of the client's last entry. Without it the log is sent from its beginning. */
  lastEventId?: string;
  filter: Pick<LogFilter, 'levels' | 'event'>;
}

/** Streams the log of a task, complete and in order (ADR 80). */
@Injectable()
export class LogStreams {
  /** The bells of the open streams, by their tasks. */
  private readonly bells = new Map<string, Set<Doorbell>>();

  constructor(
    private readonly history: TaskHistory,
    private readonly tail: JournalTail,
    private readonly streams: Streams,
    private readonly logger: Logger,
    wakeUps: WakeUps,
  ) {
    wakeUps.onLogs((taskId) => void this.ring(taskId));
  }

  /**
   * @throws DroverError `task_not_found`, `validation_failed` for an invalid id, `too_many_streams`
   */
  async open(request: AuthenticatedRequest, reply: FastifyReply, asked: LogRequest): Promise<void> {
    const read = (cursor: string) =>
      this.history.logs(
        request.caller as Caller,
        asked.taskId,
        { ...asked.filter, order: 'asc', follow: true, settled: this.tail.known?.toString() },
        { limit: PAGE, cursor },
      );
    const { from, loss } = await this.beginning(asked.lastEventId);
    const first = encodeCursor([from]);
    await read(first);
    const stream = this.streams.open('logs', request, reply);
    if (loss) stream.send(textOf({ event: 'reset', data: loss.problem.toProblem() }));
    void this.follow(asked.taskId, (bell) => this.run(stream, { read, first, bell }));
  }

  /** Log entries have ids of the journal. */
  private async beginning(after: string | undefined): Promise<{ from: string; loss?: Loss }> {
    if (after === undefined) return { from: '0' };
    if (!placeAfter(after)) {
      const errors = [{ field: 'lastEventId', message: 'must be the id of an entry' }];
      throw new DroverError('validation_failed', { errors });
    }
    const { last, dropped } = await this.tail.ends();
    const [expired, ahead] = [BigInt(after) < dropped, BigInt(after) > last];
    const loss = lossOf('entries', { expired, ahead });
    return { from: loss?.resumesAt === 'next' ? `${last}` : after, loss };
  }

  /** Rings the bell of a stream whenever its log has new lines. */
  private async follow(taskId: string, run: (bell: Doorbell) => Promise<void>): Promise<void> {
    const bell = new Doorbell();
    const bells = this.bells.get(taskId) ?? new Set();
    this.bells.set(taskId, bells.add(bell));
    // The tail runs as long as somebody hears it.
    const leave = this.tail.hear(() => undefined);
    void this.ring(taskId);
    try {
      await run(bell);
    } finally {
      leave();
      bells.delete(bell);
      if (bells.size === 0) this.bells.delete(taskId);
    }
  }

  /** New lines can be sent when the tail has passed them. Without it, the streams look later. */
  private async ring(taskId: string): Promise<void> {
    const bells = this.bells.get(taskId);
    if (bells === undefined) return;
    await this.tail.reachEnd(SETTLED_MS).catch(() => undefined);
    for (const bell of bells) bell.ring();
  }

  private async run(
    stream: OpenStream,
    {
      read,
      first,
      bell,
    }: {
      read: (cursor: string) => ReturnType<TaskHistory['logs']>;
      first: string;
      bell: Doorbell;
    },
  ): Promise<void> {
    const wake = () => bell.ring();
    stream.ended.addEventListener('abort', wake);
    let cursor = first;
    let waitMs = LOOK_MS.least;
    try {
      while (await stream.drained()) {
        const { items, nextCursor } = await read(cursor);
        const events = items.map((entry) => textOf({ id: entry.id, event: 'log', data: entry }));
        if (events.length > 0) stream.send(events.join(''));
        cursor = nextCursor ?? cursor;
        waitMs = events.length > 0 ? LOOK_MS.least : Math.min(2 * waitMs, LOOK_MS.most);
        if (events.length < PAGE && !stream.ended.aborted) await bell.wait(waitMs);
      }
    } catch (error) {
      if (stream.ended.aborted) return;
      if (error instanceof DroverError && error.spec.status < 500) return endWith(stream, error);
      this.logger.warn('a stream of a log broke off', { error });
      stream.end();
    }
  }
}
