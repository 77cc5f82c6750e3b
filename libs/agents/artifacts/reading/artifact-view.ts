import { API_PREFIX } from '#lib/http';
import type { ArtifactRow } from '../store/artifacts.sql.js';
import type { AttachmentRow } from '../uploads/attachments.sql.js';

/** A file of a run, as clients see it. */
export interface ArtifactView extends AttachmentView {
  taskId: string;
  runId: string;
}

/** A file that people attached, as clients see it. */
export interface AttachmentView {
  id: string;
  name: string;
  mediaType: string;
  sizeBytes: number;
  sha256: string;
  createdAt: string;
  expiresAt: string;
  downloadPath: string;
}

const DAY_MS = 86_400_000;

interface Shown {
  retentionDays: number;
  /** For the download. */
  token: string;
}

export function toArtifactView(row: ArtifactRow, shown: Shown): ArtifactView {
  return { taskId: row.task_id, runId: row.run_id, ...toAttachmentView(row, shown) };
}

export function toAttachmentView(
  row: AttachmentRow,
  { retentionDays, token }: Shown,
): AttachmentView {
  return {
    id: row.id,
    name: row.name,
    mediaType: row.media_type,
    sizeBytes: row.size_bytes,
    sha256: row.sha256,
    createdAt: row.created_at.toISOString(),
    expiresAt: new Date(row.created_at.getTime() + retentionDays * DAY_MS).toISOString(),
    downloadPath: `/${API_PREFIX}/artifacts/${row.id}/content?token=${token}`,
  };
}
