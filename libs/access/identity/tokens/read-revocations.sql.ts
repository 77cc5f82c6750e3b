import { query } from '#lib/database';
import type { RevocationRow } from '../domain/revocation-list.js';

export interface RevocationRecord {
  id: string;
  kind: RevocationRow['kind'];
  subject: string;
  /** The workspace of an agent. NULL means every agent with that id. */
  agent_workspace_id: string | null;
  expires_at: Date;
  /** Old enough that no transaction with a lower id can still be open. */
  settled: boolean;
}

/**
 * Revocations after an id, oldest first, at most 5,000.
 *
 * Every server, once a second. Index: the primary key. It reads the range after the cursor, a
 * handful of rows. Ids are assigned before the commit, so a row can become visible after a higher
 * one was read. The cursor therefore stays two minutes behind, and the rows of these two minutes
 * are read again each time. Applying them twice changes nothing.
 */
export const readRevocations = query<RevocationRecord>(
  'identity_read_revocations',
  `SELECT id, kind, subject, agent_workspace_id, expires_at, created_at < now() - interval '2 minutes' AS settled
     FROM token_revocations
    WHERE id > $1 AND expires_at > now()
    ORDER BY id
    LIMIT 5000`,
);
