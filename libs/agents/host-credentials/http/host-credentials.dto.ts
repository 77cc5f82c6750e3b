import { ApiProperty } from '@nestjs/swagger';
import { Id, OneOf, Text } from '#lib/http';
import { CREDENTIAL_SCHEMES, HEADER_VALUE, type HostCredential, type Sent } from '#lib/kernel';
import type { HostCredentialRequest, HostCredentialView } from '../credentials/host-credentials.js';

type Scheme = HostCredential['scheme'];

const HOST = { type: String, example: 'registry.example.com' };
const HEADER = { type: String, example: 'authorization' };

/** A header for one host, without its value. */
export class HostCredentialDto implements Sent<HostCredentialView> {
  @ApiProperty({ type: String, format: 'uuid' }) id!: string;
  @ApiProperty(HOST) host!: string;
  @ApiProperty({ enum: CREDENTIAL_SCHEMES }) scheme!: Scheme;
  @ApiProperty(HEADER) header!: string;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The only project that uses it; null means all others of the workspace',
  })
  projectId!: string | null;
  @ApiProperty({ type: String, format: 'date-time' }) updatedAt!: string;
}

export class HostCredentialsDto {
  @ApiProperty({ type: [HostCredentialDto] }) items!: HostCredentialDto[];
}

export class SetHostCredentialDto implements HostCredentialRequest {
  @Text({
    max: 8_000,
    pattern: { regexp: HEADER_VALUE, words: 'be printable ASCII without a space at either end' },
    example: 'Bearer …',
    description: 'The whole value of the header. It is sealed and never shown.',
  })
  value!: string;

  @Text({
    max: 100,
    optional: true,
    example: 'authorization',
    description: 'The name of the header. Default: authorization',
  })
  header?: string;

  @OneOf(CREDENTIAL_SCHEMES, {
    optional: true,
    description:
      'The protocol in which the hosts of sessions ask the host. Sessions ask by http:// in any ' +
      'case. Default: https',
  })
  scheme?: Scheme;
}

export class HostCredentialQuery {
  @Id('projects', { optional: true, description: 'The project, instead of the whole workspace' })
  projectId?: string;
}

export class RunHostCredentialDto implements HostCredential {
  @ApiProperty(HOST) host!: string;
  @ApiProperty({ enum: CREDENTIAL_SCHEMES }) scheme!: Scheme;
  @ApiProperty(HEADER) header!: string;
  @ApiProperty({ type: String, description: 'The value of the header' }) value!: string;
}

export class RunHostCredentialsDto {
  @ApiProperty({ type: [RunHostCredentialDto] }) items!: RunHostCredentialDto[];
}
