import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { HostCredentials } from '#lib/host-credentials';
import { TokenService } from '#lib/identity';
import {
  DroverError,
  type HostCredential,
  type Reach,
  reachWanted,
  strictestReach,
  traceparentWithin,
} from '#lib/kernel';
import { reachOfLevels } from '#lib/projects';
import type { SessionColumns } from '#lib/secrets';
import { labelOf, type SessionMetadata, type SpawnRequest } from '../domain/spawn.js';
import type { DueSpawn } from './due-spawns.sql.js';

/** The requests for sessions, with all that a session needs. */
@Injectable()
export class SpawnRequests {
  constructor(
    private readonly tokens: TokenService,
    private readonly credentials: HostCredentials,
    @Inject(CONFIG) private readonly config: Pick<Config, 'http' | 'tasks'>,
  ) {}

  /**
   * @param shown the same without its secrets, for everything outside the session
   * @returns undefined if a credential for a host cannot be opened
   */
  async make(
    shown: DueSpawn,
    spawn: DueSpawn,
    agent: SessionColumns,
  ): Promise<SpawnRequest | undefined> {
    const credentials = await this.credentialsFor(spawn);
    if (credentials === undefined) return undefined;
    const { workspace_id: workspaceId, run_id: runId, id: taskId, agent_id: agentId } = spawn;
    const run = { workspaceId, agentId, taskId, runId };
    const secrets = { ...agent.secrets, ...spawn.secrets };
    const metadata = metadataOf(spawn);
    return {
      ...run,
      label: labelOf(taskId, shown.title),
      context: {
        taskTitle: spawn.title,
        taskDescription: spawn.description,
        inputContext: spawn.input_context,
        checkpointData: spawn.checkpoint_data,
        // Left out without answers, so gateways without support for them still work.
        ...(spawn.answers && { answers: spawn.answers }),
      },
      generation: spawn.generation,
      runToken: this.tokens.issueRunToken({ ...run, tokenVersion: spawn.token_version }),
      apiUrl: this.apiUrl(),
      command: agent.command,
      ...(Object.keys(secrets).length > 0 && { secrets }),
      ...(credentials.length > 0 && { credentials }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
      timeoutSeconds: spawn.timeout_seconds,
      graceSeconds: this.config.tasks.cancelGraceSeconds,
      capabilities: spawn.capabilities,
    };
  }

  private apiUrl(): string {
    const { publicUrl, host, port } = this.config.http;
    return `${(publicUrl ?? `http://${host}:${port}`).replace(/\/$/, '')}/api/v1`;
  }

  /** @returns undefined if one cannot be opened */
  private async credentialsFor(spawn: DueSpawn): Promise<HostCredential[] | undefined> {
    if (networkOf(spawn).network !== 'allow') return [];
    const { workspace_id: workspaceId, run_id: runId, agent_id: agentId } = spawn;
    try {
      return await this.credentials.ofRun({ workspaceId, runId, agentId });
    } catch (error) {
      if (!(error instanceof DroverError)) throw error;
      // The run has ended meanwhile. The gateway hears of that after the spawn, as without credentials.
      if (error.code === 'run_not_found') return [];
      if (error.code === 'secrets_unreadable') return undefined;
      throw error;
    }
  }
}

function metadataOf({ model, model_tier: modelTier, ...spawn }: DueSpawn): SessionMetadata {
  const traceparent = traceparentWithin(spawn.traceparent, spawn.run_id);
  return {
    ...(traceparent !== null && { traceparent }),
    ...networkOf(spawn),
    ...(spawn.agent_limits !== null && { limits: spawn.agent_limits }),
    ...(model !== null && { model, modelTier }),
  };
}

/** Empty if neither the task nor its agent names a network. Only `allow` has lists. */
function networkOf(
  spawn: Pick<
    DueSpawn,
    'network_levels' | 'agent_network' | 'agent_allowed_hosts' | 'input_context'
  >,
): Partial<Reach> {
  const context = (spawn.input_context ?? {}) as { network?: unknown; allowedHosts?: unknown };
  const wanted = [
    reachWanted(context.network, context.allowedHosts),
    reachWanted(spawn.agent_network, spawn.agent_allowed_hosts),
  ].filter((reach) => reach !== undefined);
  if (wanted.length === 0) return {};
  const { network, allowedHosts } = strictestReach(reachOfLevels(spawn.network_levels), ...wanted);
  return { network, ...(network === 'allow' && { allowedHosts }) };
}
