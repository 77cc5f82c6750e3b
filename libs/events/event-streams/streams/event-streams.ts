import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Database } from '#lib/database';
import { JournalTail, type Message } from '#lib/journal';
import { textOf } from '#lib/http';
import { type AuthenticatedRequest, covers, type Scope } from '#lib/identity';
import { type Caller, DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { requireNamed, requireReadable } from '#lib/task-manager';
import { type Place, placeAfter, placeAtEndOf } from '../domain/event-filter.js';
import { lossOf } from '../domain/loss.js';
import { type Asked, EventFollower } from './event-follower.js';
import { type OpenStream, Streams } from './streams.js';

/** A client's request. */
export interface EventsRequest extends Asked {
  /** The id of the client's last event. Without it the stream starts with the next event. */
  lastEventId?: string;
}

/**
 * Time for which a server's first stream waits for writing transactions, to start after them, in
 * milliseconds.
 */
const NEXT_WITHIN_MS = 10_000;

/** Opens streams of a workspace's events. */
@Injectable()
export class EventStreams {
  constructor(
    private readonly database: Database,
    private readonly tail: JournalTail,
    private readonly streams: Streams,
    private readonly logger: Logger,
  ) {}

  /**
   * Answers the request with a stream.
   *
   * @throws DroverError `insufficient_scope`, `task_not_found`, `agent_not_found`,
   *   `project_not_found`, `validation_failed` for an invalid id, `too_many_streams`
   */
  async open(
    request: AuthenticatedRequest,
    reply: FastifyReply,
    asked: EventsRequest,
  ): Promise<void> {
    const caller = request.caller as Caller;
    const wanted = this.wantedPlace(asked.lastEventId);
    const without = unreadBy(caller);
    requireRead(asked, without);
    await this.requireThere(caller, asked);
    const { last, dropped } = await this.tail.ends();
    const ahead = wanted !== undefined && wanted.id > placeAtEndOf(last).id;
    const loss = wanted && lossOf('events', { expired: wanted.from < dropped, ahead });
    const known = loss?.resumesAt === 'oldest' ? placeAtEndOf(dropped) : wanted;
    const place = known && !ahead ? known : await this.next();
    const stream = this.streams.open('events', request, reply);
    if (loss) stream.send(textOf({ event: 'reset', data: loss.problem.toProblem() }));
    const lastEventId = `${place.id}`;
    stream.send(textOf({ id: lastEventId, event: 'place', data: { lastEventId } }));
    const sources = { database: this.database, tail: this.tail };
    const follower = new EventFollower(
      sources,
      caller.workspaceId,
      { ...asked, without },
      stream,
      place,
    );
    void this.run(follower, stream);
  }

  /**
   * Not the last row id that was drawn, because an open transaction can have drawn an earlier one.
   */
  private async next(): Promise<Place> {
    const settled = await this.tail.settled(NEXT_WITHIN_MS);
    return placeAtEndOf(settled ?? (await this.tail.consumed()));
  }

  private wantedPlace(lastEventId: string | undefined): Place | undefined {
    if (lastEventId === undefined) return undefined;
    const place = placeAfter(lastEventId);
    if (place) return place;
    const errors = [{ field: 'lastEventId', message: 'must be the id of an event' }];
    throw new DroverError('validation_failed', { errors });
  }

  private async requireThere(caller: Caller, { taskId, agentId, projectId }: Asked): Promise<void> {
    const tenant = this.database.tenant(caller.workspaceId);
    if (taskId !== undefined) await requireReadable(tenant, caller, taskId);
    await requireNamed(tenant, caller.workspaceId, { agentId, projectId });
  }

  /** A failure ends the stream, and the client returns with its position. */
  private async run(follower: EventFollower, stream: OpenStream): Promise<void> {
    try {
      await follower.run();
    } catch (error) {
      this.logger.warn('a stream of events broke off', { error });
      stream.end();
    }
  }
}

/**
 * The scope that a key needs for events of a subject, the same as for reading it. No coordinator
 * events are sent yet.
 */
const SCOPE_OF: Record<Message['subject'], Scope> = {
  task: 'tasks:read',
  run: 'tasks:read',
  budget: 'tasks:read',
  agent: 'agents:read',
  coordinator: 'coordinator:admin',
  question: 'tasks:read',
  change: 'tasks:read',
  schedule: 'tasks:read',
};

function unreadBy(caller: Caller): Message['subject'][] {
  if (caller.kind !== 'api_key') return [];
  const subjects = Object.keys(SCOPE_OF) as Message['subject'][];
  return subjects.filter((subject) => !covers(caller.scopes, SCOPE_OF[subject]));
}

function requireRead({ types = [] }: Asked, without: readonly Message['subject'][]): void {
  for (const subject of without) {
    if (!types.some((type) => type === subject || type.startsWith(`${subject}.`))) continue;
    const detail = `The key needs ${SCOPE_OF[subject]}.`;
    throw new DroverError('insufficient_scope', { detail });
  }
}
