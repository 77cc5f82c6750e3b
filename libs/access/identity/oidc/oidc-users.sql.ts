import { command, query } from '#lib/database';
import { OPEN } from '../store/invitations.sql.js';

/** The user of an issuer's subject. Cached. Index: the unique key. */
export const findIdentity = query<{ id: string; user_id: string }>(
  'identity_find_identity',
  `SELECT id, user_id FROM user_identities WHERE issuer = $1 AND subject = $2`,
);

/**
 * Links an issuer's subject to the user with a verified e-mail address, and creates the user if
 * there is none: identity id, issuer, subject, new user's id, e-mail address, name, whether a user
 * with a password and a verified address can be linked, and whether a user without an invitation
 * can be created. No row if no user can be.
 *
 * A user who has another subject of the issuer is not linked, because the provider may have given
 * the address to another person. At the first sight of a subject. Indexes: users_email_key,
 * workspace_invitations_addressee_idx and the unique keys of identities. Of two concurrent first
 * requests, the INSERT of the second finds the identity of the first; its caller then reads it. Of
 * two subjects that are linked to one account at once, one is.
 */
export const linkIdentity = command<{ id: string; user_id: string; created: boolean }>(
  'identity_link_identity',
  `WITH made AS (
     INSERT INTO users (id, email, name)
     SELECT $4, $5, $6 WHERE $8 OR EXISTS (SELECT FROM ${OPEN} WHERE i.email = $5)
     ON CONFLICT (email) DO NOTHING
     RETURNING id),
   chosen AS (
     SELECT id FROM made
     UNION ALL
     SELECT u.id FROM users u
      WHERE u.email = $5 AND ($7 AND u.email_verified OR u.password_hash IS NULL)
        AND u.disabled_at IS NULL
        AND NOT EXISTS (SELECT FROM user_identities s WHERE s.user_id = u.id AND s.issuer = $2)
     LIMIT 1)
   INSERT INTO user_identities (id, user_id, issuer, subject)
   SELECT $1, id, $2, $3 FROM chosen
   ON CONFLICT DO NOTHING
   RETURNING id, user_id, EXISTS (SELECT FROM made) AS created`,
);

/**
 * Why no user can be linked. Indexes: users_email_key, user_identities_user_id_issuer_key. $1
 * address, $2 issuer.
 */
export const findUnlinked = query<{ disabled: boolean; verified: boolean; has_subject: boolean }>(
  'identity_find_unlinked',
  `SELECT u.disabled_at IS NOT NULL AS disabled, u.email_verified AS verified,
          EXISTS (SELECT FROM user_identities s WHERE s.user_id = u.id AND s.issuer = $2) AS has_subject
     FROM users u WHERE u.email = $1`,
);

/**
 * Locks the links of a user, so that no session begins with them.
 *
 * Index: user_identities_user_id_issuer_key. $1 user.
 */
export const lockLinks = command<{ id: string }>(
  'identity_lock_links',
  `SELECT id FROM user_identities WHERE user_id = $1 FOR UPDATE`,
);

/**
 * Ends a user's sessions of single sign-on. Older servers stored no link with them, but no refresh
 * extends them.
 *
 * Index: user_sessions_user_id_idx. $1 user.
 */
export const endLinkedSessions = command<{ id: string }>(
  'identity_end_linked_sessions',
  `UPDATE user_sessions SET revoked_at = now()
    WHERE user_id = $1 AND NOT renews AND revoked_at IS NULL
   RETURNING id`,
);

/** Removes links with their sessions. Index: primary key. $1 ids of the links. */
export const removeLinks = command(
  'identity_remove_links',
  `DELETE FROM user_identities WHERE id = ANY($1::uuid[])`,
);
