import { ApiProperty } from '@nestjs/swagger';
import { type Network, NETWORKS } from '#lib/kernel';
import type { RepositoryAccess } from '../domain/repository.js';
import { RepositoryPartsDto } from './repository.dto.js';

class CredentialsDto {
  @ApiProperty({ enum: ['token', 'ssh'] }) kind!: 'token' | 'ssh';
  @ApiProperty({ required: false, description: 'Of a token' }) username?: string;
  @ApiProperty({ required: false }) token?: string;
  @ApiProperty({ required: false, description: 'Of ssh, in the format of OpenSSH' })
  privateKey?: string;
  @ApiProperty({ required: false, description: 'The keys of the server, as in known_hosts' })
  knownHosts?: string;
}

/** All that a host needs for a repository. Only hosts get it, and sessions none of its credentials. */
export class RepositoryAccessDto extends RepositoryPartsDto {
  @ApiProperty({
    enum: NETWORKS,
    description:
      'The most that the repository, its project, the project of the task and the workspace allow together',
  })
  declare network: Network;
  @ApiProperty({
    type: [String],
    description: 'The hosts that stand in every list of `hostLists`, for older workers',
  })
  declare allowedHosts: string[];
  @ApiProperty({
    type: 'array',
    items: { type: 'array', items: { type: 'string' } },
    description: 'For `allow`: sessions and scripts reach the hosts that every list names',
  })
  hostLists!: string[][];
  @ApiProperty({ type: CredentialsDto, nullable: true })
  credentials!: RepositoryAccess['credentials'];
  @ApiProperty({ type: String, nullable: true, description: 'A private key of OpenSSH' })
  signingKey!: string | null;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Secret variables of sessions and scripts',
  })
  secrets!: Record<string, string>;
}
