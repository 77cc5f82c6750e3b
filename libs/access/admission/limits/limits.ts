import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import { type LimitsRow, readLimits, writeLimits } from './limits.sql.js';
import { QueueDepths } from './queue-depths.js';

export interface LimitsRequest {
  maxQueueDepth: number | null;
  spawnsPerMinute: number | null;
  /** In MiB. An absent value stays as it is. */
  maxArtifactMb?: number | null;
}

export interface LimitsView extends LimitsRequest {
  maxArtifactMb: number | null;
  workspaceId: string;
  /** The limit that applies. 0 means no limit. */
  effectiveMaxQueueDepth: number;
  /** For all workspaces together. 0 means no limit. */
  installationSpawnsPerMinute: number;
  /** 0 until somebody sets a limit. */
  version: number;
}

/**
 * Limits on queued tasks, spawned sessions and artifacts of a workspace. Members see them, operators set them.
 */
@Injectable()
export class Limits {
  constructor(
    private readonly database: Database,
    private readonly depths: QueueDepths,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'admission'>,
  ) {}

  async get({ workspaceId }: Pick<Caller, 'workspaceId'>): Promise<LimitsView> {
    const row = await firstRow(this.database.tenant(workspaceId), readLimits, [workspaceId]);
    if (!row) throw new DroverError('workspace_not_found');
    return this.view(row);
  }

  /**
   * Other servers apply the new depth within five seconds, near the old limit within one, and
   * within half a minute if there was no limit.
   *
   * @param version the version that the client has read, if it requires that version
   * @throws DroverError `workspace_not_found`, `version_mismatch`
   */
  async set(workspaceId: string, request: LimitsRequest, version?: number): Promise<LimitsView> {
    const { service } = this.database;
    const { maxQueueDepth, spawnsPerMinute, maxArtifactMb } = request;
    const row = await firstRow(service, writeLimits, [
      workspaceId,
      maxQueueDepth,
      spawnsPerMinute,
      maxArtifactMb ?? null,
      version ?? null,
      maxArtifactMb === undefined,
    ]);
    if (row) {
      this.depths.forget(workspaceId);
      // Tasks that a rate held back may be allowed now.
      this.wakeUps.coordinator();
      return this.view(row);
    }
    const known = await firstRow(service, readLimits, [workspaceId]);
    if (!known) throw new DroverError('workspace_not_found');
    throw new DroverError('version_mismatch', { members: { currentVersion: known.version } });
  }

  private view(row: LimitsRow): LimitsView {
    const { maxQueueDepth, spawnsPerMinute } = this.config.admission;
    return {
      workspaceId: row.workspace_id,
      maxQueueDepth: row.max_queue_depth,
      spawnsPerMinute: row.spawns_per_minute,
      maxArtifactMb: row.max_artifact_mb,
      effectiveMaxQueueDepth: row.max_queue_depth ?? maxQueueDepth,
      installationSpawnsPerMinute: spawnsPerMinute,
      version: row.version,
    };
  }
}
