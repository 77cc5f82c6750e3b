import { ApiProperty } from '@nestjs/swagger';
import { Id, Text } from '#lib/http';
import type { Sent } from '#lib/kernel';
import { PROVIDERS, type Provider } from '../domain/provider.js';
import type { ModelProviderRequest, ModelProviderView } from '../providers/model-providers.js';

const SOURCES = ['project', 'workspace', 'installation'] as const;

/** A way to a provider of models, without its key. */
export class ModelProviderDto implements Sent<ModelProviderView> {
  @ApiProperty({ enum: PROVIDERS }) provider!: Provider;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) id!: string | null;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The only project that uses it; null means all others of the workspace',
  })
  projectId!: string | null;
  @ApiProperty({ type: String, example: 'https://api.openai.com' }) baseUrl!: string;
  @ApiProperty({ enum: SOURCES, description: 'The level that set it' })
  source!: (typeof SOURCES)[number];
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) updatedAt!: string | null;
}

export class ModelProvidersDto {
  @ApiProperty({ type: [ModelProviderDto] }) items!: ModelProviderDto[];
}

export class SetModelProviderDto implements ModelProviderRequest {
  @Text({ max: 10_000, description: 'The key of the provider. It is sealed and never shown.' })
  key!: string;

  @Text({
    max: 2_000,
    optional: true,
    example: 'https://litellm.example',
    description:
      "The address of the provider's API, or of a gateway that speaks it. Hosts of the " +
      "workspace connect to it. The default is the installation's address, also if another one " +
      'was set before.',
  })
  baseUrl?: string;
}

export class ModelProviderQuery {
  @Id('projects', { optional: true, description: 'The project, instead of the whole workspace' })
  projectId?: string;
}
