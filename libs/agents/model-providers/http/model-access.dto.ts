import { ApiProperty } from '@nestjs/swagger';
import { OneOf } from '#lib/http';
import { PROVIDERS, type Provider, type ProviderAccess } from '../domain/provider.js';

export class GetModelAccessDto {
  @OneOf(PROVIDERS) provider!: Provider;
}

export class ModelAccessDto implements ProviderAccess {
  @ApiProperty({ enum: PROVIDERS }) provider!: Provider;
  @ApiProperty({ type: String, example: 'https://api.openai.com' }) baseUrl!: string;
  @ApiProperty({ type: String, description: 'The key of the provider' }) key!: string;
}
