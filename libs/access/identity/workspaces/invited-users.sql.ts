import { command } from '#lib/database';

/**
 * Creates the user who was invited. No row if the address has a user. The holder of a link can
 * enter any address, so it is not verified.
 *
 * Index: users_email_key. $1 id, $2 address, $3 name, $4 hash of the password.
 */
export const createInvitedUser = command<{ id: string }>(
  'identity_create_invited_user',
  `INSERT INTO users (id, email, name, password_hash, email_verified) VALUES ($1, $2, $3, $4, false)
   ON CONFLICT (email) DO NOTHING
   RETURNING id`,
);
