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
      'Resumes after this id, as the header Last-Event-ID does. If both are present, the ' +
      'header counts.',
  })
  lastEventId?: string;

  @Text({
    max: 4_096,
    optional: true,
    description: 'A ticket of `POST /events/tickets`, which browsers send instead of a token.',
  })
  ticket?: string;
}

export class EventsQuery extends StreamQuery {
  @OneOfList(EVENT_FILTERS, {
    maxItems: EVENT_FILTERS.length,
    optional: true,
    description:
      'Only events with these names, repeated or separated by commas. `task.*` or `task` ' +
      'is all of `task.…`, and `task.status_changed.FAILED` is a change to this status.',
  })
  types?: string[];

  @Id('agent-tasks', { optional: true, description: 'Only events that name this task.' })
  taskId?: string;

  @Id('agents', { optional: true, description: 'Only events that name this agent.' })
  agentId?: string;

  @Id('projects', {
    optional: true,
    description: 'Only events of tasks of this project and of its budget.',
  })
  projectId?: string;
}

export class LogStreamQuery extends StreamQuery {
  @OneOf(LOG_LEVELS, { optional: true, description: 'Only entries of this level and above.' })
  level?: LogLevel;

  @Text({ max: 100, optional: true, example: 'state_transition' })
  event?: string;
}

export class StreamTicketDto {
  @ApiProperty({ description: 'The ticket for `?ticket=` of a stream.' }) ticket!: string;
  @ApiProperty({
    format: 'date-time',
    description: 'The time until which the ticket opens streams.',
  })
  expiresAt!: string;
  @ApiProperty({ type: 'integer' }) expiresInSeconds!: number;
}
