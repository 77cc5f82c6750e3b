import type { ForgeName } from '#lib/forges/domain';
import type { Network } from '#lib/kernel';
import {
  type Credentials,
  type MergeMethod,
  PARTS,
  type RepositoryParts,
  type RepositoryView,
  type Review,
} from '../domain/repository.js';

/** The columns of a row whose names or types differ from the view. */
export interface RepositoryRow extends Omit<
  RepositoryView,
  | 'review'
  | 'reviewer'
  | 'mergeMethod'
  | 'committer'
  | 'variables'
  | 'network'
  | 'credentials'
  | 'forge'
> {
  review: string;
  reviewerKind: string | null;
  reviewerModel: string | null;
  mergeMethod: string;
  committerName: string | null;
  committerEmail: string | null;
  variables: unknown;
  network: string;
  credentialKind: string | null;
  forge: string;
}

/** CHECKs of the table hold the closed lists. */
export function toView({
  committerName: name,
  committerEmail: email,
  credentialKind,
  reviewerKind: kind,
  reviewerModel: model,
  ...row
}: RepositoryRow): RepositoryView {
  return {
    ...row,
    review: row.review as Review,
    reviewer: kind === null ? null : { kind, ...(model === null ? {} : { model }) },
    mergeMethod: row.mergeMethod as MergeMethod,
    committer: name === null || email === null ? null : { name, email },
    variables: row.variables as Record<string, string>,
    network: row.network as Network,
    forge: row.forge as ForgeName,
    credentials: credentialKind as Credentials['kind'] | null,
  };
}

export const REPOSITORY_FIELDS = {
  id: true,
  name: true,
  projectId: true,
  url: true,
  defaultBranch: true,
  branchPattern: true,
  review: true,
  reviewerKind: true,
  reviewerModel: true,
  mergeMethod: true,
  maxRevisions: true,
  protectedPaths: true,
  committerName: true,
  committerEmail: true,
  setup: true,
  setupTimeoutSeconds: true,
  acceptance: true,
  acceptanceTimeoutSeconds: true,
  variables: true,
  secretNames: true,
  network: true,
  allowedHosts: true,
  path: true,
  cachePaths: true,
  forge: true,
  forgeUrl: true,
  requiredChecks: true,
  credentialKind: true,
  hasSigningKey: true,
  version: true,
  createdAt: true,
  updatedAt: true,
  archivedAt: true,
} as const;

export function toParts(view: RepositoryView): RepositoryParts {
  return Object.fromEntries(PARTS.map((name) => [name, view[name]])) as unknown as RepositoryParts;
}
