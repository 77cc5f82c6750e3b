import { Injectable } from '@nestjs/common';
import { Database, firstRow, violatedConstraint } from '#lib/database';
import { type Caller, DroverError, type HostCredential, newId } from '#lib/kernel';
import { HostCredentialSecrets } from '#lib/secrets';
import { readHeaderName } from '../domain/header.js';
import {
  credentialsOfRun,
  deleteHostCredential,
  type HostCredentialRow,
  listHostCredentials,
  writeHostCredential,
} from './host-credentials.sql.js';

/** A credential without its value. */
export interface HostCredentialView extends Pick<HostCredential, 'host' | 'scheme' | 'header'> {
  id: string;
  /** Null: for all tasks of the workspace without one of their project. */
  projectId: string | null;
  updatedAt: Date;
}

export interface HostCredentialRequest extends Pick<HostCredential, 'value'> {
  header?: string;
  scheme?: HostCredential['scheme'];
}

interface Named {
  host: string;
  projectId?: string | null;
}

/** The maximum number of a workspace with its projects. A session gets all that concern it. */
const MAX_CREDENTIALS = 100;

/** Headers that the hosts of sessions add to requests to one host. Nobody can read a value again. */
@Injectable()
export class HostCredentials {
  constructor(
    private readonly database: Database,
    private readonly secrets: HostCredentialSecrets,
  ) {}

  /** Lists the credentials of the workspace and of its projects, by host. */
  async list({ workspaceId }: Caller): Promise<HostCredentialView[]> {
    const rows = await this.database.tenant(workspaceId).rows(listHostCredentials, [workspaceId]);
    return rows.map(toView);
  }

  /**
   * Sets the credential of a workspace, or of one project, for a host.
   *
   * @throws DroverError `validation_failed`, `project_not_found`, `host_credential_limit`
   */
  async set(
    caller: Caller,
    { host, projectId = null }: Named,
    { value, header = 'authorization', scheme = 'https' }: HostCredentialRequest,
  ): Promise<HostCredentialView> {
    const read = readHeaderName(header);
    if ('why' in read) {
      const errors = [{ field: 'header', message: read.why }];
      throw new DroverError('validation_failed', { errors });
    }
    const { workspaceId } = caller;
    const creator = caller.kind === 'user' || caller.kind === 'api_key' ? caller.userId : null;
    const values = [host, projectId, scheme, read.header, creator, MAX_CREDENTIALS];
    return this.database
      .tenant(workspaceId)
      .transaction(async (tx) => {
        const row = await firstRow(tx, writeHostCredential, [workspaceId, newId(), ...values]);
        if (!row) {
          throw new DroverError('host_credential_limit', { members: { limit: MAX_CREDENTIALS } });
        }
        await this.secrets.write(tx, { workspaceId, id: row.id }, value);
        return toView(row);
      })
      .catch((error: unknown) => {
        if (violatedConstraint(error) !== 'host_credentials_project_fkey') throw error;
        throw new DroverError('project_not_found');
      });
  }

  /** @throws DroverError `host_credential_not_found` */
  async remove({ workspaceId }: Caller, { host, projectId = null }: Named): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    if (await firstRow(tenant, deleteHostCredential, [workspaceId, host, projectId])) return;
    throw new DroverError('host_credential_not_found');
  }

  /**
   * The credentials of a live run, with their values. One that cannot be opened refuses all: without
   * it the session would reach the host as somebody else.
   *
   * @throws DroverError `run_not_found`, `secrets_unreadable`
   */
  async ofRun({
    workspaceId,
    runId,
    agentId,
  }: {
    workspaceId: string;
    runId: string;
    agentId: string;
  }): Promise<HostCredential[]> {
    const tenant = this.database.tenant(workspaceId);
    const rows = await tenant.rows(credentialsOfRun, [workspaceId, runId, agentId]);
    if (rows.length === 0) throw new DroverError('run_not_found');
    const found = rows.flatMap(({ id, ...rest }) => (id === null ? [] : [{ id, ...rest }]));
    const places = found.map(({ id }) => ({ workspaceId, id }));
    const opened = await this.secrets.valid(tenant, places);
    return found.map(({ id, host, scheme, header }) => {
      const [value] = opened.get(id) ?? [];
      if (value === undefined) throw new DroverError('secrets_unreadable');
      return { host, scheme, header, value };
    });
  }
}

function toView(row: HostCredentialRow): HostCredentialView {
  const { id, host, scheme, header, project_id: projectId, updated_at: updatedAt } = row;
  return { id, host, scheme, header, projectId, updatedAt };
}
