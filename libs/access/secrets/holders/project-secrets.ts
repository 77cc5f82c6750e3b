import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type ColumnOfProject, sentence } from '../domain/originals.js';
import { showsSecret } from '../domain/secret-walk.js';
import { projectOriginals, type SecretsInput, writeProjectSecrets } from './task-secrets.sql.js';
import { TaskSecrets } from './task-secrets.js';

interface Place {
  workspaceId: string;
  projectId: string;
}

/** MCP servers on their way into the row of a project. */
export interface SealedServers<Server> {
  /** Without the values of `env` and `headers`. */
  shown: Server[];
  inputs: SecretsInput<ColumnOfProject>[];
}

/** The secrets of projects: the values in `env` and `headers` of their MCP servers. */
@Injectable()
export class ProjectSecrets {
  constructor(private readonly secrets: TaskSecrets) {}

  async seal<Server extends object>(
    { workspaceId, projectId }: Place,
    servers: readonly Server[],
  ): Promise<SealedServers<Server>> {
    const at = { workspace_id: workspaceId, project_id: projectId };
    const documents = { mcp_servers: servers };
    const sealed = await this.secrets.sealColumns<ColumnOfProject, typeof documents>(at, documents);
    return { shown: [...sealed.shown.mcp_servers], inputs: sealed.inputs };
  }

  /** Runs after the statement that writes the project's row, in its transaction. */
  async write(
    runner: SqlRunner,
    { workspaceId }: Place,
    inputs: readonly SecretsInput<ColumnOfProject>[],
  ): Promise<void> {
    await runner.rows(writeProjectSecrets, [workspaceId, JSON.stringify(inputs)]);
  }

  /** Performs a transaction that writes secrets. See `TaskSecrets.written`. */
  written<T>(transaction: Promise<T>): Promise<T> {
    return this.secrets.written(transaction);
  }

  /**
   * The servers with their secrets.
   *
   * @param shown the column
   * @throws DroverError `secrets_unreadable`
   */
  async open<Server extends object>(
    runner: SqlRunner,
    { workspaceId, projectId }: Place,
    shown: readonly Server[],
  ): Promise<readonly Server[]> {
    if (!showsSecret(shown)) return shown;
    const [original] = await runner.rows(projectOriginals, [workspaceId, projectId]);
    if (original === undefined) return shown;
    const outcome = await this.secrets.open(original);
    if (outcome.kind === 'opened') return outcome.value as Server[];
    throw new DroverError('secrets_unreadable', { detail: `${sentence(outcome)}.` });
  }
}
