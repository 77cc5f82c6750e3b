import { Flag, Id, IdList, Int, OneOf, OneOfList, PageQuery, Text } from '#lib/http';
import { TASK_STATUSES, type TaskStatus } from '#lib/transitions';

export class ClaimTasksDto {
  @Int(1, 50, { optional: true, description: '1 when left out' })
  maxTasks?: number;

  @Id({ optional: true, description: 'This task and no other, if the agent may take it' })
  taskId?: string;

  @Int(0, 30_000, {
    optional: true,
    description: 'How long to wait for a task, in ms; 0 when left out',
  })
  waitMs?: number;

  @Int(1, 86_400, {
    optional: true,
    description: "The lease of the runs; when left out, the agent's heartbeats carry it",
  })
  leaseSeconds?: number;
}

export class AgentSignalsRequestDto {
  @IdList({
    maxItems: 1000,
    optional: true,
    description:
      'The runs that the agent holds; when left out, all that it holds, those that it claims meanwhile too',
  })
  runIds?: string[];

  @Int(0, 30_000, { optional: true })
  waitMs?: number;
}

export class TerminateAgentDto {
  @Text({ max: 1000, optional: true, example: 'Manual shutdown' })
  reason?: string;

  @Flag({ optional: true, description: 'Let it finish what it holds; true when left out' })
  graceful?: boolean;
}

export class DeregisterAgentDto {
  @Text({ max: 1000, optional: true })
  reason?: string;
}

export class AgentTasksQuery extends PageQuery {
  @OneOfList(TASK_STATUSES, { maxItems: TASK_STATUSES.length, optional: true })
  status?: TaskStatus[];

  @OneOf(['true', 'false'], { optional: true, description: 'true: only what it holds now' })
  live?: 'true' | 'false';
}
