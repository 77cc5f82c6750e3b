import { API_PREFIX } from '#lib/http';
import type { ArtifactRow } from '../store/artifacts.sql.js';

/** A file of a run, as clients see it. */
export interface ArtifactView {
  id: string;
  taskId: string;
  runId: string;
  name: string;
  mediaType: string;
  sizeBytes: number;
  sha256: string;
  createdAt: string;
  expiresAt: string;
  downloadPath: string;
}

const DAY_MS = 86_400_000;

/** @param token for the download */
export function toArtifactView(
  row: ArtifactRow,
  { retentionDays, token }: { retentionDays: number; token: string },
): ArtifactView {
  return {
    id: row.id,
    taskId: row.task_id,
    runId: row.run_id,
    name: row.name,
    mediaType: row.media_type,
    sizeBytes: row.size_bytes,
    sha256: row.sha256,
    createdAt: row.created_at.toISOString(),
    expiresAt: new Date(row.created_at.getTime() + retentionDays * DAY_MS).toISOString(),
    downloadPath: `/${API_PREFIX}/artifacts/${row.id}/content?token=${token}`,
  };
}
