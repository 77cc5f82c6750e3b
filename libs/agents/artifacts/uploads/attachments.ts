import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { SecretValues } from '#lib/secrets';
import { requireSize } from '../files/examine-upload.js';
import { StoreOfInstallation } from '../files/store-of-installation.js';
import type { AttachmentView } from '../reading/artifact-view.js';
import { Artifacts } from '../reading/artifacts.js';
import { lockArtifactUsage } from '../store/artifacts.sql.js';
import {
  type AttachmentRow,
  listAttachments,
  roomOfAttachment,
  writeAttachment,
} from './attachments.sql.js';
import { ArtifactRoom, overQuota } from './artifact-room.js';
import { announced, receiveFile, type StoredUpload, type Upload } from './receive-file.js';

/**
 * Files that people attach to tasks and messages. A task or a message names several files by one id, which
 * their sender chose. So they are there before anybody can claim the task.
 */
@Injectable()
export class Attachments {
  constructor(
    private readonly database: Database,
    private readonly installation: StoreOfInstallation,
    private readonly artifacts: Artifacts,
    private readonly room: ArtifactRoom,
    @Inject(CONFIG) private readonly config: Pick<Config, 'artifacts'>,
  ) {}

  /**
   * Stores a file under an id, or replaces that of the same name. Nobody knows the secrets of a task that does
   * not exist yet, so only keys of known formats are refused.
   *
   * @throws DroverError `artifacts_disabled`, `validation_failed`, `malformed_header`,
   *   `artifact_too_large`, `artifact_has_secret`, `digest_mismatch`, `artifact_quota`,
   *   `artifact_limit`, `malformed_request`, `rate_limited`
   */
  put({ workspaceId }: Caller, id: string, upload: Upload): Promise<AttachmentView> {
    return this.room.during(workspaceId, async () => {
      const store = this.installation.require();
      const file = announced(upload);
      const { maxBytes } = this.config.artifacts;
      const length = upload.length ?? 0;
      requireSize(length, maxBytes);
      const tenant = this.database.tenant(workspaceId);
      const room = await firstRow(tenant, roomOfAttachment, [workspaceId, id, file.name]);
      const quotaBytes = await this.room.require(workspaceId, (room?.kept_bytes ?? 0) + length);
      const limits = { maxBytes, values: SecretValues.NONE };
      const stored = await receiveFile(store, upload, file, limits);
      return this.artifacts.attachment(
        workspaceId,
        await this.record(workspaceId, id, stored, quotaBytes),
      );
    });
  }

  /** The files of an id, in the order of their names: none for an unknown id. */
  async list({ workspaceId }: Caller, id: string): Promise<AttachmentView[]> {
    const rows = await this.database.tenant(workspaceId).rows(listAttachments, [workspaceId, id]);
    return rows.map((row) => this.artifacts.attachment(workspaceId, row));
  }

  private async record(
    workspaceId: string,
    attachments: string,
    { id, name, mediaType, size, sha256 }: StoredUpload,
    quotaBytes: number,
  ): Promise<AttachmentRow> {
    const params = [workspaceId, attachments, id, name, mediaType, size, sha256, quotaBytes];
    const [, [written]] = await this.database.tenant(workspaceId).pipeline([
      [lockArtifactUsage, [workspaceId]],
      [writeAttachment, params],
    ]);
    const { store } = this.installation;
    const isWritten = written?.id === id;
    const useless = isWritten ? written.replaced_id : id;
    if (useless !== null) await store?.remove(useless);
    if (isWritten) return written as AttachmentRow;
    throw written?.has_room === true ? new DroverError('artifact_limit') : overQuota(quotaBytes);
  }
}
