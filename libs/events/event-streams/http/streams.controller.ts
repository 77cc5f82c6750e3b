import { applyDecorators, Controller, Get, Headers, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, type AuthenticatedRequest } from '#lib/identity';
import { atLeast } from '#lib/task-manager';
import { EventStreams } from '../streams/event-streams.js';
import { LogStreams } from '../streams/log-streams.js';
import { Tickets } from '../streams/tickets.js';
import { EventsQuery, LogStreamQuery, StreamTicketDto } from './streams.dto.js';

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  required: false,
  description: 'Resumes after the event with this id. The missed events come first.',
} as const;

/** A stream in the OpenAPI document. */
const ApiStream = (description: string) =>
  applyDecorators(
    ApiHeader(LAST_EVENT_ID),
    ApiOkResponse({
      description,
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }),
    ApiErrors('validation_failed', 'too_many_streams', 'database_unavailable'),
  );

@ApiTags('Events')
@Controller()
export class StreamsController {
  constructor(
    private readonly events: EventStreams,
    private readonly logs: LogStreams,
    private readonly tickets: Tickets,
  ) {}

  @Get('events')
  @Auth({ scope: 'tasks:read', ticket: true })
  @ApiOperation({
    operationId: 'followEvents',
    summary: 'Stream the events of the workspace',
    description:
      'The answer is a stream of server-sent events with `id`, `event` (the name) and ' +
      '`data` (JSON, as in `webhooks`). `place` reports the start of the stream. `reset` ' +
      'reports that missed events no longer exist. `end` reports why the stream ends.',
  })
  @ApiStream('Events, as they happen.')
  @ApiErrors('task_not_found', 'agent_not_found', 'project_not_found')
  async followEvents(
    @Req() request: AuthenticatedRequest,
    @Res() reply: FastifyReply,
    @Query() { lastEventId, ...asked }: EventsQuery,
    @Headers('last-event-id') last?: string,
  ): Promise<void> {
    await this.events.open(request, reply, { ...asked, lastEventId: last || lastEventId });
  }

  @Post('events/tickets')
  @Auth({ kinds: ['user'] })
  @ApiOperation({
    operationId: 'issueStreamTicket',
    summary: 'Issue a ticket for a stream',
    description:
      'Browsers send no headers with a stream, so a ticket stands in its address. The ' +
      'ticket opens streams of this workspace for 60 s. These streams end when the access ' +
      'token of this request expires.',
  })
  @ApiCreatedResponse({ type: StreamTicketDto })
  issueTicket(@Req() request: AuthenticatedRequest): StreamTicketDto {
    return this.tickets.issue(request);
  }

  @Get('agent-tasks/:id/logs/stream')
  @Auth({ kinds: ['user', 'api_key', 'agent', 'run'], scope: 'tasks:read', ticket: true })
  @ApiOperation({
    operationId: 'followTaskLogs',
    summary: 'Stream the log of a task',
    description:
      'The answer is a stream of server-sent events with the name `log`. They are the ' +
      'entries of `GET /agent-tasks/{id}/logs`, the oldest first. The ' +
      'stream begins with the first entry, or after the id from which it resumes. `reset` ' +
      'reports that missed entries no longer exist.',
  })
  @ApiStream('Entries of the log, as they are written.')
  @ApiErrors('task_not_found')
  async followLogs(
    @Req() request: AuthenticatedRequest,
    @Res() reply: FastifyReply,
    @UuidParam() taskId: string,
    @Query() { lastEventId, level, event }: LogStreamQuery,
    @Headers('last-event-id') last?: string,
  ): Promise<void> {
    const filter = { levels: level && atLeast(level), event };
    await this.logs.open(request, reply, { taskId, filter, lastEventId: last || lastEventId });
  }
}
