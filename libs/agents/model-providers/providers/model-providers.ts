import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, violatedConstraint } from '#lib/database';
import { type Caller, DroverError, newId } from '#lib/kernel';
import { ModelProviderSecrets } from '#lib/secrets';
import { type Provider, type ProviderAccess, readBaseUrl } from '../domain/provider.js';
import {
  deleteModelProvider,
  listModelProviders,
  type ModelProviderRow,
  providerOfRun,
  writeModelProvider,
} from './model-providers.sql.js';

/** A way to a provider, without its key. */
export interface ModelProviderView {
  provider: Provider;
  /** Null: it is for the whole installation, and the environment of the server sets it. */
  id: string | null;
  projectId: string | null;
  baseUrl: string;
  source: 'project' | 'workspace' | 'installation';
  updatedAt: Date | null;
}

export interface ModelProviderRequest {
  key: string;
  baseUrl?: string;
}

/** The keys and addresses with which coding agents reach models. Nobody can read a key again. */
@Injectable()
export class ModelProviders {
  constructor(
    private readonly database: Database,
    private readonly secrets: ModelProviderSecrets,
    @Inject(CONFIG) private readonly config: Pick<Config, 'models'>,
  ) {}

  /** Those of the workspace and its projects, then those of the installation. */
  async list({ workspaceId }: Caller): Promise<ModelProviderView[]> {
    const rows = await this.database.tenant(workspaceId).rows(listModelProviders, [workspaceId]);
    return [...rows.map(toView), ...this.installation()];
  }

  /**
   * Sets the way of a workspace, or of one project, to a provider.
   *
   * @throws DroverError `validation_failed`, `project_not_found`
   */
  async set(
    caller: Caller,
    { provider, projectId = null }: { provider: Provider; projectId?: string | null },
    { key, baseUrl = this.config.models.providers[provider].baseUrl }: ModelProviderRequest,
  ): Promise<ModelProviderView> {
    const read = readBaseUrl(baseUrl);
    if ('why' in read) {
      throw new DroverError('validation_failed', {
        errors: [{ field: 'baseUrl', message: read.why }],
      });
    }
    const { workspaceId } = caller;
    const creator = caller.kind === 'user' || caller.kind === 'api_key' ? caller.userId : null;
    const params = [workspaceId, newId(), provider, projectId, read.baseUrl, creator];
    return this.database
      .tenant(workspaceId)
      .transaction(async (tx) => {
        const row = (await firstRow(tx, writeModelProvider, params)) as ModelProviderRow;
        await this.secrets.write(tx, { workspaceId, id: row.id }, key);
        return toView(row);
      })
      .catch((error: unknown) => {
        if (violatedConstraint(error) !== 'model_providers_project_fkey') throw error;
        throw new DroverError('project_not_found');
      });
  }

  /** @throws DroverError `model_provider_not_found` */
  async remove(
    { workspaceId }: Caller,
    { provider, projectId = null }: { provider: Provider; projectId?: string | null },
  ): Promise<void> {
    const params = [workspaceId, provider, projectId];
    const tenant = this.database.tenant(workspaceId);
    if (await firstRow(tenant, deleteModelProvider, params)) return;
    throw new DroverError('model_provider_not_found');
  }

  /**
   * The way of a live run to a provider, with its key. A key that cannot be opened is no way: the
   * installation's own would charge somebody else.
   *
   * @throws DroverError `run_not_found`, `model_provider_not_found`, `secrets_unreadable`
   */
  async ofRun(
    { workspaceId, runId, agentId }: { workspaceId: string; runId: string; agentId: string },
    provider: Provider,
  ): Promise<ProviderAccess> {
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, providerOfRun, [workspaceId, runId, agentId, provider]);
    if (!row) throw new DroverError('run_not_found');
    if (row.id === null || row.base_url === null) return this.ofInstallation(provider);
    const opened = await this.secrets.valid(tenant, [{ workspaceId, id: row.id }]);
    const [key] = opened.get(row.id) ?? [];
    if (key === undefined) throw new DroverError('secrets_unreadable');
    return { provider, baseUrl: row.base_url, key };
  }

  private ofInstallation(provider: Provider): ProviderAccess {
    const { key, baseUrl } = this.config.models.providers[provider];
    if (key === undefined) throw new DroverError('model_provider_not_found');
    return { provider, baseUrl, key };
  }

  private installation(): ModelProviderView[] {
    const known = Object.entries(this.config.models.providers) as [
      Provider,
      { key?: string; baseUrl: string },
    ][];
    return known
      .filter(([, { key }]) => key !== undefined)
      .map(([provider, { baseUrl }]) => ({
        provider,
        id: null,
        projectId: null,
        baseUrl,
        source: 'installation',
        updatedAt: null,
      }));
  }
}

function toView(row: ModelProviderRow): ModelProviderView {
  return {
    provider: row.provider,
    id: row.id,
    projectId: row.project_id,
    baseUrl: row.base_url,
    source: row.project_id === null ? 'workspace' : 'project',
    updatedAt: row.updated_at,
  };
}
