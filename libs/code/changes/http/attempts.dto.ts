import { ApiProperty } from '@nestjs/swagger';
import { Int, Nested, NestedList } from '#lib/http';
import {
  CreateTaskDto,
  ShownIntOrNull,
  ShownOneOf,
  ShownTextOrNull,
  TaskAgentDto,
} from '#lib/task-manager';
import {
  type Attempt,
  type AttemptsRequest,
  MAX_ATTEMPTS,
  type ProofView,
} from '../attempts/attempts.js';
import { type Verdict, VERDICTS } from '../domain/change-state.js';
import { ChangeCostDto, ChangeDto } from './changes.dto.js';

export class CreateAttemptsDto implements AttemptsRequest {
  @Nested(() => CreateTaskDto, {
    description: 'The task of each attempt. It needs a repositoryId.',
  })
  task!: CreateTaskDto;

  @Int(1, MAX_ATTEMPTS, {
    optional: true,
    description: 'The number of attempts, or of attempts of each agent; 1 by default',
  })
  attempts?: number;

  @NestedList(() => TaskAgentDto, {
    minItems: 1,
    maxItems: MAX_ATTEMPTS,
    optional: true,
    description: 'The coding agents of the attempts, in place of the one of the task',
  })
  agents?: (TaskAgentDto & Record<string, unknown>)[];
}

class ProofDto implements ProofView {
  @ShownOneOf(VERDICTS) verdict!: Verdict;
  @ShownIntOrNull() exitCode!: number | null;
  @ShownIntOrNull() durationMs!: number | null;
}

export class AttemptDto extends ChangeDto implements Attempt {
  @ShownTextOrNull({ description: 'The model that used most of its tokens', example: 'gpt-5.5' })
  model!: string | null;
  @ApiProperty({ type: ProofDto, nullable: true, description: 'Its last proof' })
  proof!: ProofDto | null;
  @ApiProperty({ type: ChangeCostDto, description: 'What it has used' }) cost!: ChangeCostDto;
}

export class AttemptsDto {
  @ApiProperty({ type: [AttemptDto], description: 'In the order of their creation' })
  items!: AttemptDto[];
}
