import {
  Flag,
  WholeId,
  WholeIdList,
  Int,
  NestedList,
  OneOf,
  OneOfList,
  PageQuery,
  Text,
} from '#lib/http';
import { TASK_STATUSES, type TaskStatus } from '#lib/transitions';

export class ClaimTasksDto {
  @Int(1, 50, { optional: true, description: 'The maximum number of tasks; 1 by default' })
  maxTasks?: number;

  @WholeId({ optional: true, description: 'Only this task, if the agent can take it' })
  taskId?: string;

  @Int(0, 30_000, {
    optional: true,
    description: 'The time to wait for a task in ms; 0 by default',
  })
  waitMs?: number;

  @Int(1, 86_400, {
    optional: true,
    description:
      'The lease of the runs in seconds. If it is left out, the heartbeats of the agent ' +
      'renew the lease. An agent that has sent heartbeats counts as dead when they stop, whatever ' +
      'the lease.',
  })
  leaseSeconds?: number;
}

class HeardDto {
  @WholeId() runId!: string;

  @Int(0, 1_000_000, { description: 'The position of the last message of the run; 0 for none' })
  position!: number;

  @Flag({
    optional: true,
    description:
      'Whether the agent will pause the run after its current turn. The server answers at once if ' +
      'it knows otherwise.',
  })
  pausesAfterTurn?: boolean;
}

export class AgentSignalsRequestDto {
  @WholeIdList({
    maxItems: 1000,
    optional: true,
    description:
      'The runs to watch. If they are left out, the server watches all runs of the agent, ' +
      'including runs that it claims meanwhile.',
  })
  runIds?: string[];

  @NestedList(() => HeardDto, {
    maxItems: 1000,
    optional: true,
    description:
      'The last message that the agent has of each run. Without a run here, the answer has none ' +
      'of its messages.',
  })
  heard?: HeardDto[];

  @Int(0, 30_000, { optional: true })
  waitMs?: number;
}

export class TerminateAgentDto {
  @Text({ max: 1000, optional: true, example: 'Manual shutdown' })
  reason?: string;

  @Flag({
    optional: true,
    description: 'Whether the agent finishes its runs first; true by default',
  })
  graceful?: boolean;
}

export class DeregisterAgentDto {
  @Text({ max: 1000, optional: true })
  reason?: string;
}

export class AgentTasksQuery extends PageQuery {
  @OneOfList(TASK_STATUSES, { maxItems: TASK_STATUSES.length, optional: true })
  status?: TaskStatus[];

  @OneOf(['true', 'false'], {
    optional: true,
    description: 'true: only tasks that the agent holds now',
  })
  live?: 'true' | 'false';
}
