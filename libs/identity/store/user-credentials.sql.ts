import { query } from '#lib/database';

export interface UserCredentials {
  id: string;
  password_hash: string | null;
  disabled: boolean;
}

/** What signing in needs to know. Called by login. Needs users_email_key. */
export const findCredentialsByEmail = query<UserCredentials>(
  'identity_credentials_by_email',
  `SELECT id, password_hash, disabled_at IS NOT NULL AS disabled FROM users WHERE email = $1`,
);

/** The same for somebody who is signed in. Called when a password is changed. Primary key. */
export const findCredentialsById = query<UserCredentials>(
  'identity_credentials_by_id',
  `SELECT id, password_hash, disabled_at IS NOT NULL AS disabled FROM users WHERE id = $1`,
);
