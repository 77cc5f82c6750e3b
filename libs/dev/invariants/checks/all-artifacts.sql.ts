import { query } from '#lib/database';

/** Reads all artifacts. Index: artifacts_id_idx. */
export const allArtifacts = query<{ id: string }>(
  'all_artifacts',
  `
SELECT a.id FROM artifacts a ORDER BY a.id`,
);
