import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { StoreOfInstallation } from '../files/store-of-installation.js';
import { evictAgentStates } from '../store/agent-states.sql.js';
import { lockArtifactUsage, ownQuota } from '../store/artifacts.sql.js';

/** Bounds the bytes on the disk that no quota counts yet, of a workspace at this server. */
const MAX_UNDER_WAY = 8;

/** The share of the quota that is freed at once beside the needed bytes. */
const FREED_SHARE = 0.01;

/** The room of a workspace for uploads. */
@Injectable()
export class ArtifactRoom {
  /** The number of uploads under way, by workspace. */
  private readonly underWay = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly installation: StoreOfInstallation,
    @Inject(CONFIG) private readonly config: Pick<Config, 'artifacts'>,
  ) {}

  /**
   * Counts an upload while it is under way.
   *
   * @throws DroverError `rate_limited`
   */
  async during<T>(workspaceId: string, upload: () => Promise<T>): Promise<T> {
    const others = this.underWay.get(workspaceId) ?? 0;
    if (others >= MAX_UNDER_WAY) throw tooManyUploads();
    this.underWay.set(workspaceId, others + 1);
    try {
      return await upload();
    } finally {
      const left = (this.underWay.get(workspaceId) ?? 1) - 1;
      if (left === 0) this.underWay.delete(workspaceId);
      else this.underWay.set(workspaceId, left);
    }
  }

  /**
   * Requires room for a size beside the kept bytes. The oldest states of agents are removed for it.
   * Others can take the room meanwhile, so only the statement that writes is exact.
   *
   * @param taskId a task whose state stays
   * @returns the quota of the workspace in bytes
   * @throws DroverError `artifact_quota`
   */
  async require(workspaceId: string, bytes: number, taskId: string | null = null): Promise<number> {
    const quotaBytes = await this.quotaOf(workspaceId);
    const missing = bytes - quotaBytes;
    if (missing <= 0) return quotaBytes;
    const wanted = missing + Math.ceil(quotaBytes * FREED_SHARE);
    const [, removed] = await this.database.tenant(workspaceId).pipeline([
      [lockArtifactUsage, [workspaceId]],
      [evictAgentStates, [workspaceId, missing, taskId, wanted]],
    ]);
    for (const { id } of removed) await this.installation.store?.remove(id);
    if (removed.length === 0) throw overQuota(quotaBytes);
    return quotaBytes;
  }

  /** Its own limit, or that of the installation, in bytes. */
  private async quotaOf(workspaceId: string): Promise<number> {
    const own = await firstRow(this.database.tenant(workspaceId), ownQuota, [workspaceId]);
    return own?.quota_bytes ?? this.config.artifacts.quotaBytes;
  }
}

export function overQuota(limit: number): DroverError {
  return new DroverError('artifact_quota', { members: { limit } });
}

function tooManyUploads(): DroverError {
  const detail = `The workspace has ${MAX_UNDER_WAY} uploads under way at this server.`;
  const retryAfterSeconds = 1;
  const members = { retryAfterSeconds };
  return new DroverError('rate_limited', { detail, retryAfterSeconds, members });
}
