import { ApiProperty } from '@nestjs/swagger';
import { Id } from '#lib/http';
import {
  ShownFlag,
  ShownId,
  ShownIdOrNull,
  ShownInt,
  ShownIntOrNull,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTime,
  ShownTimeOrNull,
} from '#lib/task-manager';
import {
  type BranchQueue,
  type MergeQueues,
  QUEUE_STATUSES,
  type QueuedChange,
  type QueueStatus,
} from '../queue/merge-queue.js';

export class MergeQueueQuery {
  @Id('repositories', { optional: true, description: 'Only the branches of this repository' })
  repositoryId?: string;
}

class QueuedChangeDto implements QueuedChange {
  @ShownId({ description: 'The id of its task' }) id!: string;
  @ShownText({ description: 'The title of its task' }) title!: string;
  @ShownInt({ description: 'Its place in the queue of the branch, from 1 on' }) position!: number;
  @ShownOneOf(QUEUE_STATUSES, {
    description:
      '`merging`: a host merges it. `queued`: it waits for a host. `blocked`: hosts try again at ' +
      '`dueAt`. `stopped`: a person must ask for the merge.',
  })
  status!: QueueStatus;
  @ShownTextOrNull({ example: 'user:0198c5a0-4444-7000-8000-000000000001' })
  approvedBy!: string | null;
  @ShownTime() approvedAt!: string;
  @ShownTextOrNull({ description: 'Why it does not go on, in words for people' })
  obstacle!: string | null;
  @ShownIdOrNull({ description: 'The agent whose host merges it' }) agentId!: string | null;
  @ShownTextOrNull() agentName!: string | null;
  @ShownInt({ description: 'How often hosts gave it up' }) attempts!: number;
  @ShownTimeOrNull({ description: 'When a host can take it; null: a person must ask' })
  dueAt!: string | null;
  @ShownTimeOrNull({
    description:
      'When it is expected on the branch, by the latest merges; null if that is unknown or a person ' +
      'must ask',
  })
  expectedAt!: string | null;
}

class BranchQueueDto implements BranchQueue {
  @ShownId() repositoryId!: string;
  @ShownText() repositoryName!: string;
  @ShownText({ description: 'The branch on which the changes land', example: 'main' })
  target!: string;
  @ShownIntOrNull({ description: 'The median time of the latest 20 merges, without their wait' })
  secondsPerMerge!: number | null;
  @ApiProperty({ type: [QueuedChangeDto], description: 'In the order of their merges' })
  changes!: QueuedChangeDto[];
}

export class MergeQueueDto implements MergeQueues {
  @ApiProperty({ type: [BranchQueueDto], description: 'The branches with approved changes' })
  items!: BranchQueueDto[];
  @ShownFlag({ description: 'Whether there are more than the 500 changes of the answer' })
  more!: boolean;
}
