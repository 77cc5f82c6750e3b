import { command, query } from '#lib/database';

/** Index: primary key. $1 user. */
export const findFactor = query<{
  sealed: string;
  confirmed: boolean;
  recovery_codes: number;
  email: string;
}>(
  'identity_find_factor',
  `SELECT f.sealed, f.confirmed_at IS NOT NULL AS confirmed, u.email,
          (SELECT count(*)::int FROM user_recovery_codes c WHERE c.user_id = f.user_id) AS recovery_codes
     FROM user_factors f JOIN users u ON u.id = f.user_id
    WHERE f.user_id = $1`,
);

/**
 * Begins to set up a factor, in place of one that was not confirmed. No row if one is confirmed.
 *
 * Index: primary key. $1 user, $2 the sealed secret.
 */
export const beginFactor = command<{ user_id: string }>(
  'identity_begin_factor',
  `INSERT INTO user_factors (user_id, sealed) VALUES ($1, $2)
   ON CONFLICT (user_id) DO UPDATE SET sealed = excluded.sealed, created_at = now()
     WHERE user_factors.confirmed_at IS NULL
   RETURNING user_id`,
);

/**
 * Confirms the secret that the code was checked with. $1 user, $2 the sealed secret, $3 time step.
 */
export const confirmFactor = command<{ user_id: string }>(
  'identity_confirm_factor',
  `UPDATE user_factors SET confirmed_at = now(), last_step = $3
    WHERE user_id = $1 AND sealed = $2 AND confirmed_at IS NULL
   RETURNING user_id`,
);

/**
 * Accepts the code of a time step, once: no row for the step of an accepted code or an earlier one.
 *
 * Index: primary key. $1 user, $2 time step.
 */
export const useStep = command<{ user_id: string }>(
  'identity_use_step',
  `UPDATE user_factors SET last_step = $2
    WHERE user_id = $1 AND confirmed_at IS NOT NULL AND last_step < $2
   RETURNING user_id`,
);

/** SQL: the id of the master key of the factor `f`. */
const masterKeyOf = (f: string) => `split_part(${f}.sealed, ':', 1)`;

/**
 * SQL: whether the factor `f` is sealed by the `current` master key, an `older` one, or one that is
 * missing (`unreadable`). `keys` is an array of ids, the current one first.
 */
export function keyOfFactor(f: string, keys: string): string {
  return `CASE WHEN ${masterKeyOf(f)} = (${keys}::text[])[1] THEN 'current'
    WHEN ${masterKeyOf(f)} = ANY(${keys}::text[]) THEN 'older' ELSE 'unreadable' END`;
}

/**
 * Ids of the master keys of all factors. At the start of a server: reads the table once, 100,000
 * factors in 24 ms.
 */
export const masterKeysOfFactors = query<{ id: string }>(
  'identity_master_keys_of_factors',
  `SELECT DISTINCT ${masterKeyOf('f')} AS id FROM user_factors f`,
);

/**
 * Factors that these master keys sealed, by user. No index serves it: a scan of 100,000 factors
 * each minute while there are earlier keys. $1 ids of the keys, $2 the user to start after, $3
 * limit.
 */
export const findOldFactors = query<{ user_id: string; sealed: string }>(
  'identity_find_old_factors',
  `SELECT f.user_id, f.sealed FROM user_factors f
    WHERE f.user_id > $2 AND ${masterKeyOf('f')} = ANY($1::text[])
    ORDER BY user_id LIMIT $3`,
);

/** Index: primary key. $1 user, $2 the secret, sealed again, $3 as it was read. */
export const resealFactor = command(
  'identity_reseal_factor',
  `UPDATE user_factors SET sealed = $2 WHERE user_id = $1 AND sealed = $3`,
);

/** Accepts a recovery code, once. Index: primary key. $1 user, $2 hash. */
export const useRecoveryCode = command<{ recovery_codes: number }>(
  'identity_use_recovery_code',
  `DELETE FROM user_recovery_codes WHERE user_id = $1 AND hash = $2
   RETURNING (SELECT count(*)::int - 1 FROM user_recovery_codes WHERE user_id = $1) AS recovery_codes`,
);

/** Index: primary key. $1 user. */
export const removeRecoveryCodes = command(
  'identity_remove_recovery_codes',
  `DELETE FROM user_recovery_codes WHERE user_id = $1`,
);

/** $1 user, $2 hashes. */
export const addRecoveryCodes = command(
  'identity_add_recovery_codes',
  `INSERT INTO user_recovery_codes (user_id, hash) SELECT $1, unnest($2::bytea[])`,
);

/** With its recovery codes. Index: primary key. $1 user. */
export const removeFactor = command<{ user_id: string }>(
  'identity_remove_factor',
  `DELETE FROM user_factors WHERE user_id = $1 RETURNING user_id`,
);
