import { command, query } from '#lib/database';

/** The user that an issuer's subject stands for. Cached. By the unique key. */
export const findIdentity = query<{ user_id: string }>(
  'identity_find_identity',
  `SELECT user_id FROM user_identities WHERE issuer = $1 AND subject = $2`,
);

/**
 * Links an issuer's subject to the user with a verified e-mail address, and makes that user first
 * when there is none: identity id, issuer, subject, new user's id, e-mail address, name, and whether
 * a user with a password may be meant. No row when nobody may.
 *
 * At the first sight of a subject. Needs users_email_key and the identities' unique key. Of two first requests
 * at once, the second's INSERT of the identity finds the first's; its caller then reads it.
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
     SELECT id FROM users WHERE email = $5 AND ($7 OR password_hash IS NULL)
     LIMIT 1)
   INSERT INTO user_identities (id, user_id, issuer, subject)
   SELECT $1, id, $2, $3 FROM chosen
   ON CONFLICT (issuer, subject) DO NOTHING
   RETURNING user_id`,
);
