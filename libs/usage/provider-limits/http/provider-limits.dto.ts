import { ApiProperty } from '@nestjs/swagger';
import { LIMIT_KINDS, type LimitKind } from '../domain/provider-limit.js';
import type { ProviderLimitView } from '../limits/provider-limits.js';

const id = { type: String, format: 'uuid' };
const time = { type: String, format: 'date-time' };

export class LimitReporterDto {
  @ApiProperty(id) runId!: string;
  @ApiProperty(id) agentId!: string;
  @ApiProperty() agentName!: string;
  @ApiProperty(time) at!: string;
}

export class ProviderLimitDto implements ProviderLimitView {
  @ApiProperty(id) id!: string;
  @ApiProperty({ example: 'anthropic' }) provider!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The model, or null for all models of the provider',
  })
  model!: string | null;
  @ApiProperty({ enum: LIMIT_KINDS }) kind!: LimitKind;
  @ApiProperty(time) since!: string;
  @ApiProperty(time) until!: string;
  @ApiProperty({ type: LimitReporterDto, description: 'The run that last reported the limit' })
  reportedBy!: LimitReporterDto;
}

export class ProviderLimitListDto {
  @ApiProperty({ type: [ProviderLimitDto] }) items!: ProviderLimitDto[];
}
