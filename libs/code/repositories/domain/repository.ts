import type { ForgeName } from '#lib/forges/domain';
import type { Network } from '#lib/kernel';

export const REVIEWS = ['none', 'person', 'agent', 'both'] as const;
export type Review = (typeof REVIEWS)[number];
export const MERGE_METHODS = ['merge', 'squash', 'rebase'] as const;
export type MergeMethod = (typeof MERGE_METHODS)[number];

/** A coding agent that reviews. */
export interface Reviewer {
  kind: string;
  model?: string;
}

export interface Committer {
  name: string;
  email: string;
}

/** How a host proves who it is to the server of a repository. */
export type Credentials =
  | { kind: 'token'; username: string; token: string }
  | { kind: 'ssh'; privateKey: string; knownHosts: string };

/** The values of a repository that hosts need and nobody can read again. */
export interface RepositorySecretValues {
  credentials: Credentials | null;
  signingKey: string | null;
  /** Variables of setup and acceptance, by name. */
  secrets: Record<string, string>;
}

/** The settings of a repository that are shown. */
export interface RepositorySettings {
  name: string;
  projectId: string | null;
  url: string;
  defaultBranch: string;
  branchPattern: string;
  review: Review;
  reviewer: Reviewer | null;
  mergeMethod: MergeMethod;
  maxRevisions: number;
  protectedPaths: string[];
  committer: Committer | null;
  setup: string | null;
  setupTimeoutSeconds: number;
  acceptance: string | null;
  acceptanceTimeoutSeconds: number;
  variables: Record<string, string>;
  network: Network;
  allowedHosts: string[];
  path: string | null;
  cachePaths: string[];
  forge: ForgeName;
  /** The address of the forge's API, if it is not the usual one. */
  forgeUrl: string | null;
  /** The checks of the forge that a submitted commit must pass before it lands. */
  requiredChecks: string[];
}

export interface RepositoryView extends RepositorySettings {
  id: string;
  credentials: Credentials['kind'] | null;
  hasSigningKey: boolean;
  secretNames: string[];
  version: number;
  createdAt: Date;
  updatedAt: Date;
  archivedAt: Date | null;
}

/** The members of a repository that hosts need. */
export const PARTS = [
  'id',
  'name',
  'url',
  'defaultBranch',
  'branchPattern',
  'mergeMethod',
  'protectedPaths',
  'committer',
  'setup',
  'setupTimeoutSeconds',
  'acceptance',
  'acceptanceTimeoutSeconds',
  'variables',
  'network',
  'allowedHosts',
  'path',
  'cachePaths',
  'forge',
  'forgeUrl',
  'requiredChecks',
] as const satisfies (keyof RepositoryView)[];

export type RepositoryParts = Pick<RepositoryView, (typeof PARTS)[number]>;

/** All that a host needs for a repository. A session gets none of the credentials. */
export interface RepositoryAccess extends RepositoryParts, RepositorySecretValues {
  /** For the network `allow`: sessions and scripts reach the hosts that every list admits. */
  hostLists: string[][];
}
