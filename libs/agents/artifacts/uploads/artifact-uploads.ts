import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { refuseReport, type Reporter, RunSecrets } from '#lib/runs';
import type { ArtifactStore } from '../files/artifact-store.js';
import { requireSize } from '../files/examine-upload.js';
import { ArtifactRoom, overQuota } from './artifact-room.js';
import { announced, receiveFile, type StoredUpload, type Upload } from './receive-file.js';
import { StoreOfInstallation } from '../files/store-of-installation.js';
import { Artifacts } from '../reading/artifacts.js';
import type { ArtifactView } from '../reading/artifact-view.js';
import {
  type ArtifactRow,
  lockArtifactUsage,
  runOfUpload,
  writeArtifact,
} from '../store/artifacts.sql.js';

/** Stores files that runs send. */
@Injectable()
export class ArtifactUploads {
  constructor(
    private readonly database: Database,
    private readonly installation: StoreOfInstallation,
    private readonly secrets: RunSecrets,
    private readonly artifacts: Artifacts,
    private readonly room: ArtifactRoom,
    @Inject(CONFIG) private readonly config: Pick<Config, 'artifacts'>,
  ) {}

  /**
   * Stores a file of a run, or replaces that of the same name. It accepts files up to 15 minutes
   * after the end of the run.
   *
   * The row is written after its file. A file without a row, of an upload that broke off, is
   * removed later by the pruner.
   *
   * @throws DroverError `artifacts_disabled`, `validation_failed`, `malformed_header`,
   *   `run_not_found`, `stale_run`, `artifact_too_large`, `artifact_has_secret`,
   *   `digest_mismatch`, `artifact_quota`, `artifact_limit`, `malformed_request`, `rate_limited`
   */
  async put(by: Reporter, upload: Upload): Promise<ArtifactView> {
    const store = this.installation.require();
    return this.room.during(by.workspaceId, () => this.take(by, store, upload));
  }

  private async take(by: Reporter, store: ArtifactStore, upload: Upload): Promise<ArtifactView> {
    const file = announced(upload);
    const quotaBytes = await this.requireRoom(by, file.name, upload.length ?? 0);
    const { maxBytes } = this.config.artifacts;
    const limits = { maxBytes, values: await this.secrets.of(by) };
    const stored = await receiveFile(store, upload, file, limits);
    return this.artifacts.view(by.workspaceId, await this.record(by, store, stored, quotaBytes));
  }

  /** Before the first byte is read, so that most refusals cost nothing. */
  private async requireRoom(by: Reporter, name: string, length: number): Promise<number> {
    requireSize(length, this.config.artifacts.maxBytes);
    const params = [by.workspaceId, by.runId, by.agentId, name];
    const run = await firstRow(this.database.tenant(by.workspaceId), runOfUpload, params);
    if (!run?.is_open) await refuseReport(this.database, by);
    return this.room.require(by.workspaceId, (run?.kept_bytes ?? 0) + length);
  }

  private async record(
    by: Reporter,
    store: ArtifactStore,
    stored: StoredUpload,
    quotaBytes: number,
  ): Promise<ArtifactRow> {
    const { workspaceId, runId, agentId } = by;
    const { id, name, mediaType, size, sha256 } = stored;
    const params = [workspaceId, runId, agentId, id, name, mediaType, size, sha256, quotaBytes];
    const [, [written]] = await this.database.tenant(workspaceId).pipeline([
      [lockArtifactUsage, [workspaceId]],
      [writeArtifact, params],
    ]);
    if (written?.id === id) {
      if (written.replaced_id !== null) await store.remove(written.replaced_id);
      return written as ArtifactRow;
    }
    await store.remove(id);
    if (!written) return refuseReport(this.database, by);
    throw written.has_room ? new DroverError('artifact_limit') : overQuota(quotaBytes);
  }
}
