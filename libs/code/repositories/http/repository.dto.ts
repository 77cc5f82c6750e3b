import { ApiProperty } from '@nestjs/swagger';
import { type ForgeName, FORGES } from '#lib/forges/domain';
import { type Network, NETWORKS, type Sent } from '#lib/kernel';
import {
  type Committer,
  MERGE_METHODS,
  type MergeMethod,
  type RepositoryParts,
  type RepositoryView,
  type Review,
  type Reviewer,
  REVIEWS,
} from '../domain/repository.js';

const NULLABLE_TEXT = { type: String, nullable: true } as const;
const TEXTS = { type: 'object', additionalProperties: { type: 'string' } } as const;

export class ReviewerDto implements Reviewer {
  @ApiProperty({ example: 'codex' }) kind!: string;
  @ApiProperty({ required: false }) model?: string;
}

export class CommitterDto implements Committer {
  @ApiProperty({ example: 'Shop agents' }) name!: string;
  @ApiProperty({ example: 'agents@example.com' }) email!: string;
}

/** The settings of a repository that hosts and people get, without its secrets. */
export class RepositoryPartsDto implements RepositoryParts {
  @ApiProperty({ type: String, format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'shop' }) name!: string;
  @ApiProperty({ example: 'https://example.com/team/shop.git' }) url!: string;
  @ApiProperty({ description: 'The branch on which changes land', example: 'main' })
  defaultBranch!: string;
  @ApiProperty({ description: 'How branches of changes are named', example: '{agent}/{task}' })
  branchPattern!: string;
  @ApiProperty({ enum: MERGE_METHODS }) mergeMethod!: MergeMethod;
  @ApiProperty({ type: [String], description: 'Paths that no agent may change' })
  protectedPaths!: string[];
  @ApiProperty({ type: CommitterDto, nullable: true, description: 'The committer of all commits' })
  committer!: Committer | null;
  @ApiProperty({ ...NULLABLE_TEXT, description: 'The script that prepares a checkout' })
  setup!: string | null;
  @ApiProperty() setupTimeoutSeconds!: number;
  @ApiProperty({ ...NULLABLE_TEXT, description: 'The script that proves a change' })
  acceptance!: string | null;
  @ApiProperty() acceptanceTimeoutSeconds!: number;
  @ApiProperty({ ...TEXTS, description: 'Variables of sessions and scripts' })
  variables!: Record<string, string>;
  @ApiProperty({
    enum: NETWORKS,
    description:
      'The most that sessions, setup and acceptance get, if the workspace and the project allow it',
  })
  network!: Network;
  @ApiProperty({ type: [String], description: 'The hosts that they reach with `allow`' })
  allowedHosts!: string[];
  @ApiProperty({ ...NULLABLE_TEXT, description: 'The folder in which agents and scripts start' })
  path!: string | null;
  @ApiProperty({ type: [String], description: 'Paths that setup makes and checkouts share' })
  cachePaths!: string[];
  @ApiProperty({ enum: FORGES, description: 'Where changes have pull requests' })
  forge!: ForgeName;
  @ApiProperty({
    ...NULLABLE_TEXT,
    description: 'The address of its API, if it is not the usual one',
  })
  forgeUrl!: string | null;
  @ApiProperty({
    type: [String],
    description: 'Checks of the forge that a submitted commit must pass before it lands',
  })
  requiredChecks!: string[];
}

/** A repository without its secrets. */
export class RepositoryDto extends RepositoryPartsDto implements Sent<RepositoryView> {
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) projectId!: string | null;
  @ApiProperty({ enum: REVIEWS }) review!: Review;
  @ApiProperty({ type: ReviewerDto, nullable: true }) reviewer!: Reviewer | null;
  @ApiProperty() maxRevisions!: number;
  @ApiProperty({ enum: ['token', 'ssh'], nullable: true, type: String })
  credentials!: 'token' | 'ssh' | null;
  @ApiProperty() hasSigningKey!: boolean;
  @ApiProperty({ type: [String] }) secretNames!: string[];
  @ApiProperty() version!: number;
  @ApiProperty({ type: String, format: 'date-time' }) createdAt!: string;
  @ApiProperty({ type: String, format: 'date-time' }) updatedAt!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) archivedAt!: string | null;
}

export class RepositoryPageDto {
  @ApiProperty({ type: [RepositoryDto] }) items!: RepositoryDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
