import { ApiProperty } from '@nestjs/swagger';
import { Int, NestedList, OneOf, Text } from '#lib/http';
import type { Sent } from '#lib/kernel';
import {
  CHECK_STATES,
  type CheckState,
  type Finding,
  FINDING_OUTCOMES,
  type FindingOutcome,
  type RepositoryCheckView,
} from '../domain/repository-check.js';
import type { RepositoryAccess } from '../domain/repository.js';
import type { CheckWork } from '../checks/repository-checks.js';
import { RepositoryAccessDto } from './repository-access.dto.js';

const OUTCOME = '`failed`: no change can land. `warning`: a change can fail, or nothing proves it.';

class FindingDto implements Finding {
  @ApiProperty({ type: String, description: 'What was looked at', example: 'push' })
  name!: string;
  @ApiProperty({ type: String, enum: FINDING_OUTCOMES, description: OUTCOME })
  outcome!: FindingOutcome;
  @ApiProperty({ type: String, example: 'The repository refuses the credentials' })
  message!: string;
  @ApiProperty({ type: String, required: false, description: 'How to mend it' })
  advice?: string;
}

export class RepositoryCheckDto implements RepositoryCheckView {
  @ApiProperty({ type: String, format: 'uuid' }) repositoryId!: string;
  @ApiProperty({
    type: String,
    enum: CHECK_STATES,
    nullable: true,
    description: '`waiting`: no host has it yet. null: nobody has asked for a check',
  })
  state!: CheckState | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  requestedAt!: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The time of the findings',
  })
  checkedAt!: string | null;
  @ApiProperty({ type: [FindingDto] }) findings!: Finding[];
}

class HeldCheckDto implements Sent<CheckWork['check']> {
  @ApiProperty({ type: String, format: 'uuid' }) repositoryId!: string;
  @ApiProperty({ type: 'integer', description: 'Counts the claims; the report names it' })
  generation!: number;
  @ApiProperty({ type: String, format: 'date-time', description: 'The end of the lease' })
  until!: string;
}

/** A check of a repository that a host has claimed. */
export class CheckWorkDto implements Sent<CheckWork> {
  @ApiProperty({ type: HeldCheckDto }) check!: HeldCheckDto;
  @ApiProperty({ type: RepositoryAccessDto }) repository!: RepositoryAccess;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The address of the server, at which the hooks of a forge reach it. null: unknown',
  })
  publicUrl!: string | null;
}

class ReportedFindingDto implements Finding {
  @Text({ max: 50, example: 'push' }) name!: string;
  @OneOf(FINDING_OUTCOMES, { description: OUTCOME }) outcome!: FindingOutcome;
  @Text({ max: 4_000 }) message!: string;
  @Text({ max: 2_000, optional: true, description: 'How to mend it' }) advice?: string;
}

export class NamedCheckDto {
  @Int(1, 2_147_483_647, { description: 'The generation with which the check was claimed' })
  generation!: number;
}

export class CheckLeaseDto {
  @ApiProperty({ type: String, format: 'date-time', description: 'The end of the lease' })
  until!: string;
}

export class ReportCheckDto extends NamedCheckDto {
  @NestedList(() => ReportedFindingDto, { maxItems: 50 })
  findings!: ReportedFindingDto[];
}
