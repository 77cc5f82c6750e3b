import { ApiProperty } from '@nestjs/swagger';
import { EVENT_FILTERS } from '#lib/journal';
import { Id, OneOf, OneOfList, Text } from '#lib/http';
import { LOG_LEVELS, type LogLevel } from '#lib/task-manager';

class StreamQuery {
  @Text({
    max: 19,
    pattern: { regexp: /^\d+$/, words: 'be the digits of an id' },
    optional: true,
    description:
      'Resume behind this id, as the header Last-Event-ID does, which counts when both are there.',
  })
  lastEventId?: string;

  @Text({
    max: 4_096,
    optional: true,
    description: 'Instead of a token, for browsers: of `POST /events/tickets`.',
  })
  ticket?: string;
}

export class EventsQuery extends StreamQuery {
  @OneOfList(EVENT_FILTERS, {
    maxItems: EVENT_FILTERS.length,
    optional: true,
    description:
      'Events of these names; `task.*`, or `task`, is all of `task.…`. Repeated, or with commas.',
  })
  types?: string[];

  @Id({ optional: true, description: 'Events that name the task.' })
  taskId?: string;

  @Id({ optional: true, description: 'Events that name the agent.' })
  agentId?: string;

  @Id({ optional: true, description: 'Events of tasks of the project, and of its own budget.' })
  projectId?: string;
}

export class LogStreamQuery extends StreamQuery {
  @OneOf(LOG_LEVELS, { optional: true, description: 'This level and those above it.' })
  level?: LogLevel;

  @Text({ max: 100, optional: true, example: 'state_transition' })
  event?: string;
}

export class StreamTicketDto {
  @ApiProperty({ description: 'For `?ticket=` of a stream.' }) ticket!: string;
  @ApiProperty({ format: 'date-time', description: 'Streams can be opened with it until then.' })
  expiresAt!: string;
  @ApiProperty({ type: 'integer' }) expiresInSeconds!: number;
}
