import { command, query } from '#lib/database';

/** The user of an issuer's subject. Cached. Index: the unique key. */
export const findIdentity = query<{ user_id: string }>(
  'identity_find_identity',
  `SELECT user_id FROM user_identities WHERE issuer = $1 AND subject = $2`,
);

/**
 * Links an issuer's subject to the user with a verified e-mail address, and creates the user if
 * there is none: identity id, issuer, subject, new user's id, e-mail address, name, and whether a
 * user with a password and a verified address can be linked. No row if no user can be.
 *
 * At the first sight of a subject. Indexes: users_email_key and the identities' unique key. Of two
 * concurrent first requests, the INSERT of the second finds the identity of the first; its caller
 * then reads it.
 */
export const linkIdentity = command<{ user_id: string }>(
  'identity_link_identity',
  `WITH made AS (
     INSERT INTO users (id, email, name) VALUES ($4, $5, $6)
     ON CONFLICT (email) DO NOTHING
     RETURNING id),
   chosen AS (
     SELECT id FROM made
     UNION ALL
     SELECT id FROM users WHERE email = $5 AND ($7 AND email_verified OR password_hash IS NULL)
     LIMIT 1)
   INSERT INTO user_identities (id, user_id, issuer, subject)
   SELECT $1, id, $2, $3 FROM chosen
   ON CONFLICT (issuer, subject) DO NOTHING
   RETURNING user_id`,
);
