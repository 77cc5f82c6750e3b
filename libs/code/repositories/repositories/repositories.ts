import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type SqlRunner, violatedConstraint } from '#lib/database';
import {
  type Caller,
  DroverError,
  idOfCursor,
  type Network,
  newId,
  type Page,
  type Reach,
  reachOf,
  strictestReach,
  toPage,
} from '#lib/kernel';
import { reachOfLevels } from '#lib/projects';
import { RepositorySecrets } from '#lib/secrets';
import { type CredentialsRequest, isPrivateKey, readCredentials } from '../domain/credentials.js';
import type {
  RepositoryAccess,
  RepositorySecretValues,
  RepositorySettings,
  RepositoryView,
} from '../domain/repository.js';
import { errorsOf, goesElsewhere } from '../domain/repository-change.js';
import { lockRepository, networkOfProject, repositoriesAtForge } from './repositories.sql.js';
import { REPOSITORY_FIELDS, toParts, toView } from './repository-view.js';

interface SecretsRequest extends Partial<Omit<RepositorySecretValues, 'credentials'>> {
  credentials?: CredentialsRequest | null;
  /** Names of `secrets` to remove. Others stay. */
  removedSecrets?: string[];
}

/** The fields that a client can set. */
export type RepositoryRequest = Partial<RepositorySettings> & SecretsRequest;

export type NewRepository = RepositoryRequest & Pick<RepositorySettings, 'name' | 'url'>;

export interface Listing {
  limit: number;
  cursor?: string;
  archived?: boolean;
}

interface Place {
  workspaceId: string;
  id: string;
}

const NO_SECRETS: RepositorySecretValues = { credentials: null, signingKey: null, secrets: {} };
const MAX_SECRETS = 100;

/** Repositories on which agents work. Nobody can read a secret of one again, except hosts. */
@Injectable()
export class Repositories {
  constructor(
    private readonly database: Database,
    private readonly secrets: RepositorySecrets,
    @Inject(CONFIG) private readonly config: Pick<Config, 'repositories'>,
  ) {}

  /** @throws DroverError `validation_failed`, `project_not_found`, `repository_exists` */
  create({ workspaceId }: Caller, request: NewRepository): Promise<RepositoryView> {
    const { credentials, signingKey, secrets, ...settings } = request;
    const place = { workspaceId, id: newId() };
    const values = merged(NO_SECRETS, { credentials, signingKey, secrets });
    this.check(settings, values.credentials?.kind ?? null);
    const data = {
      ...columnsOf(settings),
      ...columnsOfSecrets(values),
      ...place,
      name: request.name,
      url: request.url,
    };
    const creating = this.database.tenant(workspaceId).prisma(async (tx, sql) => {
      const row = await tx.repository.create({ data, select: REPOSITORY_FIELDS });
      if (hasAny(values)) await this.secrets.write(sql, place, JSON.stringify(values));
      return toView(row);
    });
    return explained(this.secrets.written(creating));
  }

  /** Lists repositories, the oldest first. @throws DroverError `malformed_cursor` */
  async list({ workspaceId }: Caller, listing: Listing): Promise<Page<RepositoryView>> {
    const { limit, cursor, archived = false } = listing;
    const id = { gt: idOfCursor(cursor) ?? undefined };
    const where = { workspaceId, id, archivedAt: archived ? { not: null } : null };
    const select = REPOSITORY_FIELDS;
    const rows = await this.database
      .tenant(workspaceId)
      .prisma((tx) =>
        tx.repository.findMany({ where, orderBy: { id: 'asc' }, take: limit + 1, select }),
      );
    return toPage(rows, limit, (row) => [row.id], toView);
  }

  /** @throws DroverError `repository_not_found` */
  async get({ workspaceId }: Pick<Caller, 'workspaceId'>, id: string): Promise<RepositoryView> {
    const where = { workspaceId_id: { workspaceId, id } };
    const row = await this.database
      .tenant(workspaceId)
      .prisma((tx) => tx.repository.findUnique({ where, select: REPOSITORY_FIELDS }));
    if (row === null) throw new DroverError('repository_not_found');
    return toView(row);
  }

  /**
   * Changes a repository. Runs and steps that hosts take from now on have the change.
   *
   * @throws DroverError `validation_failed`, `project_not_found`, `repository_not_found`,
   *   `repository_exists`, `version_mismatch`, `secrets_unreadable`
   */
  change(
    { workspaceId }: Caller,
    id: string,
    request: RepositoryRequest,
    version?: number,
  ): Promise<RepositoryView> {
    const { credentials, signingKey, secrets, removedSecrets, ...settings } = request;
    const place = { workspaceId, id };
    const changing = this.database.tenant(workspaceId).prisma(async (tx, sql) => {
      const locked = await firstRow(sql, lockRepository, [workspaceId, id]);
      if (!locked) throw new DroverError('repository_not_found');
      const before = await this.open(sql, place);
      const given = { credentials, signingKey, secrets, removedSecrets };
      const values = merged(before, given);
      const isKept = credentials === undefined && before.credentials?.kind === 'token';
      const { url, forge, forge_url: forgeUrl } = locked;
      if (isKept && goesElsewhere({ url, forge, forgeUrl }, settings)) {
        refuse('credentials', 'must be given again, because the token would go to another server');
      }
      this.check({ url, forge, ...settings }, values.credentials?.kind ?? null);
      const [row] = await tx.repository.updateManyAndReturn({
        where: { workspaceId, id, version },
        data: {
          ...columnsOf(settings),
          ...columnsOfSecrets(values),
          version: { increment: 1 },
          updatedAt: new Date(),
        },
        select: REPOSITORY_FIELDS,
      });
      if (!row) throw new DroverError('version_mismatch');
      if (hasAny(before) || hasAny(values)) {
        await this.secrets.write(sql, place, JSON.stringify(values));
      }
      return toView(row);
    });
    return explained(this.secrets.written(changing));
  }

  /**
   * Archives a repository: it accepts no more tasks, and its name is free. Changes that are under
   * way end as usual. A repetition keeps the first time.
   *
   * @throws DroverError `repository_not_found` or `version_mismatch`
   */
  async archive(caller: Caller, id: string, version?: number): Promise<RepositoryView> {
    const { workspaceId } = caller;
    const now = new Date();
    const [row] = await this.database.tenant(workspaceId).prisma((tx) =>
      tx.repository.updateManyAndReturn({
        where: { workspaceId, id, version, archivedAt: null },
        data: { archivedAt: now, updatedAt: now, version: { increment: 1 } },
        select: REPOSITORY_FIELDS,
      }),
    );
    if (row) return toView(row);
    const current = await this.get(caller, id);
    if (version !== undefined && version !== current.version) {
      throw new DroverError('version_mismatch');
    }
    return current;
  }

  /** The repositories of a forge that have one of the addresses, which can end with `.git`. */
  async atForge(workspaceId: string, forge: string, urls: readonly string[]): Promise<string[]> {
    const bare = urls.map((url) => url.toLowerCase().replace(/(?:\.git)?\/?$/, ''));
    const tenant = this.database.tenant(workspaceId);
    const rows = await tenant.rows(repositoriesAtForge, [workspaceId, forge, bare]);
    return rows.map(({ id }) => id);
  }

  /**
   * All that a host needs for a repository, with its secrets. The network is what the repository,
   * its project, the project of the task and the workspace allow together.
   *
   * @param taskProjectId the project of the task whose code the host runs, if there is a task
   * @throws DroverError `repository_not_found`, `secrets_unreadable`
   */
  async access(
    { workspaceId, id }: Place,
    taskProjectId: string | null = null,
  ): Promise<RepositoryAccess> {
    const view = await this.get({ workspaceId }, id);
    const tenant = this.database.tenant(workspaceId);
    const [values, { network, allowedHosts }] = await Promise.all([
      this.open(tenant, { workspaceId, id }),
      this.reachOf(tenant, workspaceId, view, taskProjectId),
    ]);
    const hostLists = allowedHosts.map((list) => [...list]);
    return { ...toParts(view), network, allowedHosts: inAll(hostLists), hostLists, ...values };
  }

  /** @throws DroverError `repository_not_found`, `secrets_unreadable` */
  secretsOf(place: Place): Promise<RepositorySecretValues> {
    return this.open(this.database.tenant(place.workspaceId), place);
  }

  /**
   * The network of the repository, and the network that it, its project and the workspace allow
   * together.
   *
   * @throws DroverError `repository_not_found`
   */
  async networksOf({ workspaceId, id }: Place): Promise<{ own: Network; allowed: Network }> {
    const view = await this.get({ workspaceId }, id);
    const tenant = this.database.tenant(workspaceId);
    const { network: allowed } = await this.reachOf(tenant, workspaceId, view, null);
    return { own: view.network, allowed };
  }

  private async reachOf(
    sql: SqlRunner,
    workspaceId: string,
    { network, allowedHosts, projectId }: RepositoryView,
    taskProjectId: string | null,
  ): Promise<Reach> {
    // Most repositories need no query.
    if (network === 'none') return reachOf(network, []);
    const projects = new Set([projectId, taskProjectId ?? projectId]);
    const above = await Promise.all(
      [...projects].map((project) => firstRow(sql, networkOfProject, [workspaceId, project])),
    );
    const levels = above.map((row) => reachOfLevels(row?.levels ?? null));
    return strictestReach(reachOf(network, allowedHosts), ...levels);
  }

  /** @throws DroverError `secrets_unreadable` */
  private async open(sql: SqlRunner, place: Place): Promise<RepositorySecretValues> {
    const [text] = (await this.secrets.valid(sql, [place])).get(place.id) ?? [];
    if (text !== undefined) return JSON.parse(text) as RepositorySecretValues;
    const { hasSigningKey, credentials, secretNames } = await this.get(place, place.id);
    if (hasSigningKey || credentials !== null || secretNames.length > 0) {
      throw new DroverError('secrets_unreadable');
    }
    return NO_SECRETS;
  }

  /** @throws DroverError `validation_failed` */
  private check(settings: Partial<RepositorySettings>, credentials: 'token' | 'ssh' | null): void {
    const errors = errorsOf(settings, credentials, this.config.repositories.folders);
    if (errors.length > 0) throw new DroverError('validation_failed', { errors });
  }
}

/** Older workers know one list. It has the hosts that every list names literally. */
function inAll([first = [], ...others]: string[][]): string[] {
  return first.filter((host) => others.every((list) => list.includes(host)));
}

/** @throws DroverError `validation_failed` */
function merged(
  before: RepositorySecretValues,
  { credentials, signingKey, secrets = {}, removedSecrets = [] }: SecretsRequest,
): RepositorySecretValues {
  const all = Object.entries({ ...before.secrets, ...secrets });
  const kept = all.filter(([name]) => !removedSecrets.includes(name));
  if (kept.length > MAX_SECRETS) refuse('secrets', `must be at most ${MAX_SECRETS} in all`);
  if (signingKey && !isPrivateKey(signingKey)) {
    refuse('signingKey', 'must be a private key of OpenSSH in PEM');
  }
  const read = credentials ? readCredentials(credentials, 'credentials') : credentials;
  if (read && 'errors' in read) throw new DroverError('validation_failed', read);
  return {
    credentials: read === undefined ? before.credentials : read,
    signingKey: signingKey === undefined ? before.signingKey : signingKey,
    secrets: Object.fromEntries(kept),
  };
}

/** @throws DroverError `validation_failed` */
function refuse(field: string, message: string): never {
  throw new DroverError('validation_failed', { errors: [{ field, message }] });
}

function hasAny({ credentials, signingKey, secrets }: RepositorySecretValues): boolean {
  return credentials !== null || signingKey !== null || Object.keys(secrets).length > 0;
}

function columnsOf({ committer, reviewer, ...settings }: Partial<RepositorySettings>) {
  return {
    ...settings,
    ...(reviewer === undefined
      ? {}
      : { reviewerKind: reviewer?.kind ?? null, reviewerModel: reviewer?.model ?? null }),
    ...(committer === undefined
      ? {}
      : { committerName: committer?.name ?? null, committerEmail: committer?.email ?? null }),
  };
}

function columnsOfSecrets({ credentials, signingKey, secrets }: RepositorySecretValues) {
  return {
    credentialKind: credentials?.kind ?? null,
    hasSigningKey: signingKey !== null,
    secretNames: Object.keys(secrets).sort(),
  };
}

function explained<T>(writing: Promise<T>): Promise<T> {
  return writing.catch((error: unknown) => {
    const constraint = violatedConstraint(error);
    if (constraint === 'repositories_project_fkey') throw new DroverError('project_not_found');
    if (constraint === 'repositories_name_key') throw new DroverError('repository_exists');
    if (constraint === 'repositories_reviewer_check') {
      refuse('reviewer', 'must name a coding agent, because an agent reviews');
    }
    throw error;
  });
}
