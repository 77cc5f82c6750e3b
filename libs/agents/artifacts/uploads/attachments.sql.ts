import { command, query } from '#lib/database';
import type { ArtifactRow } from '../store/artifacts.sql.js';

/** Maximum number of files that one id names. */
export const MAX_ATTACHMENTS = 50;

/** A file that people attached. */
export type AttachmentRow = Omit<ArtifactRow, 'task_id' | 'run_id'>;

const SHOWN =
  'a.id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at';

/**
 * The size of all artifacts of a workspace, without the attachment that an upload would replace. Indexes:
 * primary key, artifacts_attachment_key. $1 workspace, $2 attachments, $3 name.
 */
export const roomOfAttachment = query<{ kept_bytes: number }>(
  'room_of_attachment',
  `
SELECT (coalesce((SELECT u.bytes FROM artifact_usage u WHERE u.workspace_id = $1), 0)
  - coalesce((SELECT a.size_bytes FROM artifacts a WHERE a.workspace_id = $1 AND a.task_id = $2
    AND a.name = $3 AND a.kind = 'attachment'), 0))::float8 AS kept_bytes`,
);

export interface WrittenAttachment extends Partial<AttachmentRow> {
  /** False: nothing was written. */
  has_room: boolean;
  is_few: boolean;
  replaced_id: string | null;
}

/**
 * Adds an attachment, or replaces that of the same name. Nothing is written beyond the limits. After
 * lockArtifactUsage. Index: artifacts_attachment_key.
 *
 * $1 workspace, $2 attachments, $3 id, $4 name, $5 media type, $6 size, $7 hash, $8 quota in bytes.
 */
export const writeAttachment = command<WrittenAttachment>(
  'write_attachment',
  `
WITH before AS MATERIALIZED (
  SELECT b.id, b.name, b.size_bytes FROM artifacts b
  WHERE b.workspace_id = $1 AND b.task_id = $2 AND b.kind = 'attachment'
),
facts AS MATERIALIZED (
  SELECT (SELECT b.id FROM before b WHERE b.name = $4) AS replaced_id,
    $6::bigint - coalesce((SELECT b.size_bytes FROM before b WHERE b.name = $4), 0) AS growth,
    u.bytes + $6::bigint - coalesce((SELECT b.size_bytes FROM before b WHERE b.name = $4), 0)
      <= $8::bigint AS has_room,
    (SELECT count(*) FROM before b WHERE b.name <> $4) < ${MAX_ATTACHMENTS} AS is_few
  FROM artifact_usage u WHERE u.workspace_id = $1
),
written AS (
  INSERT INTO artifacts AS a (workspace_id, id, task_id, name, media_type, size_bytes, sha256, kind)
  SELECT $1, $3, $2, $4, $5, $6, $7, 'attachment' FROM facts f WHERE f.has_room AND f.is_few
  ON CONFLICT (workspace_id, task_id, name) WHERE kind = 'attachment' DO UPDATE SET id = excluded.id,
    created_at = now(), media_type = excluded.media_type, size_bytes = excluded.size_bytes,
    sha256 = excluded.sha256
  RETURNING ${SHOWN}
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes + f.growth FROM facts f
  WHERE u.workspace_id = $1 AND EXISTS (SELECT FROM written)
)
SELECT f.has_room, f.is_few, f.replaced_id, w.* FROM facts f LEFT JOIN written w ON true`,
);

/** In the order of their names. Index: artifacts_attachment_key. $1 workspace, $2 attachments. */
export const listAttachments = query<AttachmentRow>(
  'list_attachments',
  `
SELECT ${SHOWN} FROM artifacts a
WHERE a.workspace_id = $1 AND a.task_id = $2 AND a.kind = 'attachment' ORDER BY a.name`,
);
