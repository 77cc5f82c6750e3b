import { command, query } from '#lib/database';

export interface UserRow {
  id: string;
  email: string;
  name: string;
  is_operator: boolean;
  disabled_at: Date | null;
  version: number;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = 'id, email, name, is_operator, disabled_at, version, created_at, updated_at';

/** A new user: id, email, name, password hash, operator. No row when the address is in use. */
export const insertUser = command<UserRow>(
  'identity_insert_user',
  `INSERT INTO users (id, email, name, password_hash, is_operator)
   VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (email) DO NOTHING
   RETURNING ${COLUMNS}`,
);

/** Called by GET /auth/me and GET /users/:id. Primary key. */
export const findUser = query<UserRow>(
  'identity_find_user',
  `SELECT ${COLUMNS} FROM users WHERE id = $1`,
);

/** Called by GET /users: after an id, so many. Primary key, in its order. */
export const listUsers = query<UserRow>(
  'identity_list_users',
  `SELECT ${COLUMNS} FROM users WHERE id > $1 ORDER BY id LIMIT $2`,
);

/**
 * Changes a user: id, version or null, and what changes (name, operator, disabled; null leaves it).
 *
 * Called by PATCH /users/:id. Primary key.
 */
export const updateUser = command<UserRow>(
  'identity_update_user',
  `UPDATE users
      SET name = coalesce($3, name),
          is_operator = coalesce($4, is_operator),
          disabled_at = CASE WHEN $5::boolean IS NULL THEN disabled_at
                             WHEN $5 THEN coalesce(disabled_at, now()) END,
          version = version + 1, updated_at = now()
    WHERE id = $1 AND ($2::int IS NULL OR version = $2)
   RETURNING ${COLUMNS}`,
);

/**
 * Locks every operator who can still sign in, in one order, so that two requests can not remove the
 * last two at once. Called before one stops being an operator. Reads users as a whole: they are few.
 */
export const lockOperators = command<{ id: string }>(
  'identity_lock_operators',
  `SELECT id FROM users WHERE is_operator AND disabled_at IS NULL ORDER BY id FOR UPDATE`,
);
