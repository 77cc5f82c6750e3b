import { command } from '#lib/database';

/** Archives: id, version or null. A repetition keeps the first time. Index: primary key. */
export const archiveWorkspace = command<{ id: string }>(
  'identity_archive_workspace',
  `UPDATE workspaces
      SET archived_at = coalesce(archived_at, now()), version = version + 1, updated_at = now()
    WHERE id = $1 AND ($2::int IS NULL OR version = $2)
   RETURNING id`,
);
