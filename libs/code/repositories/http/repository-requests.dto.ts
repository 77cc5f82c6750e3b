import {
  Flag,
  HostList,
  Id,
  Int,
  Nested,
  OneOf,
  PageQuery,
  Text,
  TextList,
  type FieldOptions,
} from '#lib/http';
import { type ForgeName, FORGES } from '#lib/forges/domain';
import { KIND_NAME, type Network, NETWORKS } from '#lib/kernel';
import { Secrets } from '#lib/secrets';
import type { CredentialsRequest } from '../domain/credentials.js';
import { MERGE_METHODS, type MergeMethod, type Review, REVIEWS } from '../domain/repository.js';

const NAME = {
  regexp: /^[a-z0-9][a-z0-9._-]*$/,
  words: 'have only a-z, 0-9, ., _ and -, and begin with a letter or digit',
};
const KIND = {
  regexp: KIND_NAME,
  words: 'be lower-case words of letters and digits, joined by -',
};
const NULL = { optional: true, nullable: true } as const;

const name = (options: FieldOptions = {}) =>
  Text({
    max: 100,
    pattern: NAME,
    example: 'shop',
    description: 'Its name in the workspace',
    ...options,
  });
const url = (options: FieldOptions = {}) =>
  Text({
    max: 2_000,
    example: 'https://example.com/team/shop.git',
    description:
      'An https or ssh address, or the absolute path of a repository below DROVER_REPOSITORY_PATHS',
    ...options,
  });

class NewReviewerDto {
  @Text({ max: 50, pattern: KIND, example: 'codex' }) kind!: string;
  @Text({ max: 200, optional: true }) model?: string;
}

class NewCommitterDto {
  @Text({ max: 200, example: 'Shop agents' }) name!: string;
  @Text({ max: 200, example: 'agents@example.com' }) email!: string;
}

class NewCredentialsDto implements CredentialsRequest {
  @OneOf(['token', 'ssh']) kind!: 'token' | 'ssh';
  @Text({ max: 200, optional: true, description: 'Of a token. Default: x-access-token' })
  username?: string;
  @Text({ max: 8_000, optional: true, description: 'For kind `token`' }) token?: string;
  @Text({ max: 20_000, optional: true, description: 'For kind `ssh`, in the format of OpenSSH' })
  privateKey?: string;
  @Text({
    max: 20_000,
    optional: true,
    description: 'For kind `ssh`: the keys of the server, as in known_hosts',
  })
  knownHosts?: string;
}

/** The settings that requests to create and to change share. */
class RepositorySettingsDto {
  @Id('projects', { ...NULL, description: 'The only project whose tasks use it' })
  projectId?: string | null;

  @Text({
    max: 200,
    optional: true,
    example: 'main',
    description: 'The branch on which changes land. Default: main',
  })
  defaultBranch?: string;

  @Text({
    max: 200,
    optional: true,
    example: '{agent}/{task}',
    description: 'How branches of changes are named, with {task} and optionally {agent}',
  })
  branchPattern?: string;

  @OneOf(REVIEWS, {
    optional: true,
    description: 'Who reviews a change before it lands. Default: person',
  })
  review?: Review;

  @Nested(() => NewReviewerDto, { ...NULL, description: 'The coding agent that reviews' })
  reviewer?: NewReviewerDto | null;

  @OneOf(MERGE_METHODS, { optional: true, description: 'How a change lands. Default: squash' })
  mergeMethod?: MergeMethod;

  @Int(0, 100, {
    optional: true,
    description: 'How often a change may go back to its agent before it fails. Default: 3',
  })
  maxRevisions?: number;

  @TextList({
    item: { max: 500 },
    maxItems: 100,
    optional: true,
    example: ['.github'],
    description: 'Files and folders that no agent may change',
  })
  protectedPaths?: string[];

  @Nested(() => NewCommitterDto, {
    ...NULL,
    description: 'The committer of all commits. Default: Drover',
  })
  committer?: NewCommitterDto | null;

  @Text({
    max: 50_000,
    ...NULL,
    example: 'npm ci',
    description: 'A script for `bash -e` that prepares a checkout, once for each set of lock files',
  })
  setup?: string | null;

  @Int(1, 86_400, { optional: true, description: 'Default: 1800' })
  setupTimeoutSeconds?: number;

  @Text({
    max: 50_000,
    ...NULL,
    example: 'npm test',
    description: 'A script for `bash -e` that proves a change. It runs on a clean checkout.',
  })
  acceptance?: string | null;

  @Int(1, 86_400, { optional: true, description: 'Default: 1800' })
  acceptanceTimeoutSeconds?: number;

  @Secrets({
    optional: true,
    description: 'Variables of sessions and scripts, which the whole workspace can read',
  })
  variables?: Record<string, string>;

  @OneOf(NETWORKS, {
    optional: true,
    description:
      'The most that sessions, setup and acceptance get, if the workspace and the project of the ' +
      'repository allow it. Default: none',
  })
  network?: Network;

  @HostList({ optional: true, description: 'The hosts that they reach with `allow`' })
  allowedHosts?: string[];

  @Text({
    max: 500,
    ...NULL,
    example: 'packages/shop',
    description:
      'The folder in which agents and scripts start. Agents get it and the files above it only.',
  })
  path?: string | null;

  @TextList({
    item: { max: 500 },
    maxItems: 20,
    optional: true,
    example: ['node_modules'],
    description:
      'Paths that setup makes and that later checkouts share, below `path`. One with a slash in front ' +
      'counts from the root of the repository. Default: all that setup makes',
  })
  cachePaths?: string[];

  @OneOf(FORGES, {
    optional: true,
    description:
      'Where changes have pull requests. It needs an https url, and a token. `gitea` is for Forgejo ' +
      'as well. Default: none',
  })
  forge?: ForgeName;

  @Text({
    max: 2_000,
    ...NULL,
    example: 'https://example.com/api/v3',
    description: 'The address of its API. Default: the usual one at the host of the url',
  })
  forgeUrl?: string | null;

  @TextList({
    item: { max: 255 },
    maxItems: 50,
    optional: true,
    example: ['build'],
    description: 'Checks of the forge that a submitted commit must pass before it lands',
  })
  requiredChecks?: string[];

  @Nested(() => NewCredentialsDto, {
    ...NULL,
    description: 'How hosts sign in to its server. They are sealed and never shown.',
  })
  credentials?: NewCredentialsDto | null;

  @Text({
    max: 20_000,
    ...NULL,
    description: 'A private key of OpenSSH that signs commits. It is sealed and never shown.',
  })
  signingKey?: string | null;

  @Secrets({
    optional: true,
    description:
      'Secret variables of sessions and scripts. They are sealed and never shown. A change leaves ' +
      'the others.',
  })
  secrets?: Record<string, string>;
}

export class CreateRepositoryDto extends RepositorySettingsDto {
  @name() name!: string;
  @url() url!: string;
}

export class ChangeRepositoryDto extends RepositorySettingsDto {
  @name({ optional: true }) name?: string;
  @url({ optional: true }) url?: string;

  @TextList({
    item: { max: 200 },
    maxItems: 100,
    optional: true,
    description: 'Names of secret variables to remove',
  })
  removedSecrets?: string[];
}

export class ListRepositoriesQuery extends PageQuery {
  @Flag({ optional: true, description: 'true: the archived ones instead' })
  archived?: boolean;
}
