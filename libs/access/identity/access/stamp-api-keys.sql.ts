import { command } from '#lib/database';

/**
 * Records the use of keys: parallel arrays of workspaces and ids.
 *
 * In the background, at most once a minute for a key and server. Index: the primary key. Rows are
 * locked in the order of their ids, so that two servers cannot deadlock.
 */
export const stampApiKeys = command<unknown>(
  'identity_stamp_api_keys',
  `WITH due AS (
     SELECT k.workspace_id, k.id
       FROM api_keys k
       JOIN unnest($1::uuid[], $2::uuid[]) AS used (workspace_id, id)
         ON used.workspace_id = k.workspace_id AND used.id = k.id
      WHERE k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute'
      ORDER BY k.id
        FOR UPDATE OF k)
   UPDATE api_keys k SET last_used_at = now()
     FROM due WHERE k.workspace_id = due.workspace_id AND k.id = due.id`,
);
