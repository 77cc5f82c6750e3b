-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- identity_accept_invitation
WITH chosen AS (
     SELECT i.workspace_id, i.id, i.role, inviter.email AS invited_by
       FROM workspace_invitations i
     JOIN workspaces w ON w.id = i.workspace_id AND w.archived_at IS NULL AND i.expires_at > now()
     JOIN workspace_members m ON m.workspace_id = i.workspace_id AND m.user_id = i.invited_by
      AND (m.role = 'OWNER' OR m.role = 'ADMIN' AND i.role <> 'OWNER')
     JOIN users inviter ON inviter.id = m.user_id AND inviter.disabled_at IS NULL
     JOIN users u ON u.email = i.email
      WHERE i.id = $1 AND u.id = $2
        FOR SHARE OF m FOR UPDATE OF i),
   taken AS (
     DELETE FROM workspace_invitations i USING chosen c
      WHERE i.workspace_id = c.workspace_id AND i.id = c.id),
   made AS (
     INSERT INTO workspace_members (workspace_id, user_id, role)
     SELECT workspace_id, $2, role FROM chosen
     ON CONFLICT (workspace_id, user_id) DO NOTHING
     RETURNING user_id)
   SELECT workspace_id, role, invited_by, EXISTS (SELECT FROM made) AS made FROM chosen

-- identity_accept_link
WITH chosen AS (
     SELECT i.workspace_id, i.id, i.role, inviter.email AS invited_by
       FROM workspace_invitations i
     JOIN workspaces w ON w.id = i.workspace_id AND w.archived_at IS NULL AND i.expires_at > now()
     JOIN workspace_members m ON m.workspace_id = i.workspace_id AND m.user_id = i.invited_by
      AND (m.role = 'OWNER' OR m.role = 'ADMIN' AND i.role <> 'OWNER')
     JOIN users inviter ON inviter.id = m.user_id AND inviter.disabled_at IS NULL
       JOIN users u ON u.email = coalesce(i.email, u.email)
      WHERE i.token_hash = $1 AND u.id = $2
        FOR SHARE OF m FOR UPDATE OF i),
   taken AS (
     DELETE FROM workspace_invitations i USING chosen c
      WHERE i.workspace_id = c.workspace_id AND i.id = c.id),
   made AS (
     INSERT INTO workspace_members (workspace_id, user_id, role)
     SELECT workspace_id, $2, role FROM chosen
     ON CONFLICT (workspace_id, user_id) DO NOTHING
     RETURNING user_id)
   SELECT workspace_id, role, invited_by, EXISTS (SELECT FROM made) AS made FROM chosen

-- identity_add_recovery_codes
INSERT INTO user_recovery_codes (user_id, hash) SELECT $1, unnest($2::bytea[])

-- identity_archive_workspace
UPDATE workspaces
      SET archived_at = coalesce(archived_at, now()), version = version + 1, updated_at = now()
    WHERE id = $1 AND ($2::int IS NULL OR version = $2)
   RETURNING id

-- identity_begin_factor
INSERT INTO user_factors (user_id, sealed) VALUES ($1, $2)
   ON CONFLICT (user_id) DO UPDATE SET sealed = excluded.sealed, created_at = now()
     WHERE user_factors.confirmed_at IS NULL
   RETURNING user_id

-- identity_confirm_factor
UPDATE user_factors SET confirmed_at = now(), last_step = $3
    WHERE user_id = $1 AND sealed = $2 AND confirmed_at IS NULL
   RETURNING user_id

-- identity_create_invited_user
INSERT INTO users (id, email, name, password_hash, email_verified) VALUES ($1, $2, $3, $4, false)
   ON CONFLICT (email) DO NOTHING
   RETURNING id

-- identity_decline_invitation
DELETE FROM workspace_invitations i USING users u
    WHERE i.id = $1 AND u.id = $2 AND i.email = u.email AND i.expires_at > now()
   RETURNING i.id

-- identity_delete_ended_sessions
DELETE FROM user_sessions
    WHERE id = ANY (ARRAY(
      SELECT id FROM user_sessions
       WHERE least(expires_at, revoked_at) < now() - interval '1 day'
       LIMIT $1 FOR UPDATE SKIP LOCKED))
   RETURNING id

-- identity_end_invitation_of_member
DELETE FROM workspace_invitations i USING users u
    WHERE i.workspace_id = $1 AND u.id = $2 AND i.email = u.email

-- identity_end_invitations_by
DELETE FROM workspace_invitations i USING workspace_members m
    WHERE m.user_id = $1 AND i.workspace_id = m.workspace_id AND i.invited_by = m.user_id

-- identity_end_linked_sessions
UPDATE user_sessions SET revoked_at = now()
    WHERE user_id = $1 AND NOT renews AND revoked_at IS NULL
   RETURNING id

-- identity_end_other_sessions
UPDATE user_sessions SET revoked_at = now()
    WHERE user_id = $1 AND ($2::uuid IS NULL OR id <> $2) AND revoked_at IS NULL
   RETURNING id

-- identity_end_session
UPDATE user_sessions SET revoked_at = now()
    WHERE id = $1 AND ($2::uuid IS NULL OR user_id = $2) AND revoked_at IS NULL
   RETURNING id, user_id

-- identity_ending_api_keys
SELECT count(*)::int AS count, min(k.expires_at) AS first FROM api_keys k WHERE k.revoked_at IS NULL AND k.last_used_at IS NOT NULL
  AND k.expires_at > now() AND k.expires_at <= now() + interval '14 days'

-- identity_find_account
SELECT u.is_operator, u.disabled_at IS NOT NULL AS disabled,
          u.password_hash IS NOT NULL AND NOT EXISTS (
            SELECT FROM user_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS lacks_factor
     FROM users u WHERE u.id = $1

-- identity_find_api_key_by_hash
SELECT k.id, k.workspace_id, k.scopes, k.role, k.created_by, k.expires_at,
          coalesce(k.expires_at <= now(), false) AS expired,
          k.revoked_at IS NOT NULL OR w.archived_at IS NOT NULL AS revoked,
          CASE WHEN u.disabled_at IS NULL THEN m.role END AS maker_role
     FROM api_keys k
     JOIN workspaces w ON w.id = k.workspace_id
     JOIN users u ON u.id = k.created_by
     LEFT JOIN workspace_members m ON m.workspace_id = k.workspace_id AND m.user_id = k.created_by
    WHERE k.key_hash = $1

-- identity_find_enabled_user
SELECT id FROM users WHERE id = $1 AND disabled_at IS NULL

-- identity_find_factor
SELECT f.sealed, f.confirmed_at IS NOT NULL AS confirmed, u.email,
          (SELECT count(*)::int FROM user_recovery_codes c WHERE c.user_id = f.user_id) AS recovery_codes
     FROM user_factors f JOIN users u ON u.id = f.user_id
    WHERE f.user_id = $1

-- identity_find_identity
SELECT id, user_id FROM user_identities WHERE issuer = $1 AND subject = $2

-- identity_find_link
SELECT w.name AS workspace_name, i.email, i.role, inviter.name AS invited_by_name, i.expires_at
     FROM workspace_invitations i
     JOIN workspaces w ON w.id = i.workspace_id AND w.archived_at IS NULL AND i.expires_at > now()
     JOIN workspace_members m ON m.workspace_id = i.workspace_id AND m.user_id = i.invited_by
      AND (m.role = 'OWNER' OR m.role = 'ADMIN' AND i.role <> 'OWNER')
     JOIN users inviter ON inviter.id = m.user_id AND inviter.disabled_at IS NULL
    WHERE i.token_hash = $1

-- identity_find_mail_of_invitation
SELECT w.name AS workspace_name, inviter.name AS invited_by_name,
          $3 OR inviter.password_hash IS NULL OR inviter.is_operator AS trusted
     FROM workspace_invitations i
     JOIN workspaces w ON w.id = i.workspace_id
     JOIN users inviter ON inviter.id = i.invited_by
    WHERE i.workspace_id = $1 AND i.id = $2

-- identity_find_membership
SELECT m.role
     FROM workspace_members m
     JOIN workspaces w ON w.id = m.workspace_id
     JOIN users u ON u.id = m.user_id
    WHERE m.workspace_id = $1 AND m.user_id = $2
      AND w.archived_at IS NULL AND u.disabled_at IS NULL

-- identity_find_old_factors
SELECT f.user_id, f.sealed FROM user_factors f
    WHERE f.user_id > $2 AND split_part(f.sealed, ':', 1) = ANY($1::text[])
    ORDER BY user_id LIMIT $3

-- identity_find_unlinked
SELECT u.disabled_at IS NOT NULL AS disabled, u.email_verified AS verified,
          EXISTS (SELECT FROM user_identities s WHERE s.user_id = u.id AND s.issuer = $2) AS has_subject
     FROM users u WHERE u.email = $1

-- identity_find_user_to_add
SELECT u.id FROM users u
    WHERE u.id = $1 AND u.disabled_at IS NULL AND (
      EXISTS (SELECT FROM workspace_members m WHERE m.workspace_id = $2 AND m.user_id = u.id)
      OR $3::boolean)

-- identity_find_workspaces_of
SELECT m.workspace_id
     FROM workspace_members m
     JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.user_id = $1 AND w.archived_at IS NULL
    LIMIT 2

-- identity_forget_agent_tokens
DELETE FROM agent_tokens WHERE workspace_id = $1 AND agent_id = $2

-- identity_insert_agent_token
INSERT INTO agent_tokens (workspace_id, id, agent_id, issued_by, issued_by_key, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6)

-- identity_insert_revocations
INSERT INTO token_revocations (kind, subject, expires_at, agent_workspace_id)
   SELECT kind, subject, now() + (seconds + 300) * interval '1 second', workspace_id
     FROM unnest($1::text[], $2::text[], $3::int[], $4::uuid[])
       AS given (kind, subject, seconds, workspace_id)

-- identity_invite
INSERT INTO workspace_invitations (workspace_id, id, email, role, invited_by, token_hash, expires_at, email_status)
   SELECT $1, $2, $3, $4, $5, $6, now() + interval '14 days',
          CASE WHEN $7 AND $3::text IS NOT NULL THEN 'sending' END
    WHERE NOT EXISTS (
      SELECT FROM workspace_members m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 AND u.email = $3)
   ON CONFLICT (workspace_id, email) DO UPDATE
     SET id = excluded.id, role = excluded.role, invited_by = excluded.invited_by, created_at = now(),
         token_hash = excluded.token_hash, expires_at = excluded.expires_at,
         email_status = excluded.email_status, email_problem = NULL
   RETURNING id, email, role, invited_by, created_at, expires_at, email_status, email_problem

-- identity_link_identity
WITH made AS (
     INSERT INTO users (id, email, name)
     SELECT $4, $5, $6 WHERE $8 OR EXISTS (SELECT FROM workspace_invitations i
     JOIN workspaces w ON w.id = i.workspace_id AND w.archived_at IS NULL AND i.expires_at > now()
     JOIN workspace_members m ON m.workspace_id = i.workspace_id AND m.user_id = i.invited_by
      AND (m.role = 'OWNER' OR m.role = 'ADMIN' AND i.role <> 'OWNER')
     JOIN users inviter ON inviter.id = m.user_id AND inviter.disabled_at IS NULL WHERE i.email = $5)
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
   RETURNING id, user_id, EXISTS (SELECT FROM made) AS created

-- identity_list_invitations
SELECT id, email, role, invited_by, created_at, expires_at, email_problem,
          CASE WHEN email_status = 'sending' AND created_at < now() - interval '1 minute' THEN 'lost'
               ELSE email_status END AS email_status
     FROM workspace_invitations
    WHERE workspace_id = $1 AND expires_at > now() AND ($2::uuid IS NULL OR id > $2)
    ORDER BY id
    LIMIT $3

-- identity_list_invitations_of
SELECT i.id, i.workspace_id, w.name AS workspace_name, i.role, inviter.name AS invited_by_name, i.created_at,
          i.expires_at
     FROM workspace_invitations i
     JOIN workspaces w ON w.id = i.workspace_id AND w.archived_at IS NULL AND i.expires_at > now()
     JOIN workspace_members m ON m.workspace_id = i.workspace_id AND m.user_id = i.invited_by
      AND (m.role = 'OWNER' OR m.role = 'ADMIN' AND i.role <> 'OWNER')
     JOIN users inviter ON inviter.id = m.user_id AND inviter.disabled_at IS NULL
     JOIN users u ON u.email = i.email
    WHERE u.id = $1 AND ($2 AND u.email_verified OR u.password_hash IS NULL) AND ($3::uuid IS NULL OR i.id > $3)
    ORDER BY i.id
    LIMIT $4

-- identity_lock_account
SELECT pg_advisory_xact_lock(hashtextextended('account of ' || $1::text, 0))::text

-- identity_lock_links
SELECT id FROM user_identities WHERE user_id = $1 FOR UPDATE

-- identity_lock_memberships
SELECT workspace_id FROM workspace_members WHERE user_id = $1 ORDER BY workspace_id FOR UPDATE

-- identity_lock_operators
SELECT id FROM users WHERE is_operator AND disabled_at IS NULL ORDER BY id FOR UPDATE

-- identity_lock_owners_and_member
SELECT m.user_id, m.role, m.version FROM workspace_members m
    WHERE m.workspace_id = $1 AND (m.user_id = $2 OR m.role = 'OWNER' AND EXISTS (
      SELECT FROM users u WHERE u.id = m.user_id AND u.disabled_at IS NULL))
    ORDER BY m.user_id
      FOR UPDATE

-- identity_lock_role
SELECT role FROM workspace_members WHERE workspace_id = $1 AND user_id = $2 FOR KEY SHARE

-- identity_lock_valid_key
SELECT floor(extract(epoch FROM expires_at - now()))::float8 AS seconds_left FROM api_keys
    WHERE workspace_id = $1 AND id = $2 AND revoked_at IS NULL
      FOR SHARE

-- identity_master_keys_of_factors
SELECT DISTINCT split_part(f.sealed, ':', 1) AS id FROM user_factors f

-- identity_prune_agent_tokens
DELETE FROM agent_tokens
    WHERE (workspace_id, id) IN (
      SELECT workspace_id, id FROM agent_tokens WHERE expires_at < now()
       LIMIT 1000 FOR UPDATE SKIP LOCKED)
   RETURNING id

-- identity_prune_invitations
DELETE FROM workspace_invitations
    WHERE (workspace_id, id) IN (
      SELECT workspace_id, id FROM workspace_invitations WHERE expires_at < now()
       LIMIT 1000 FOR UPDATE SKIP LOCKED)
   RETURNING id

-- identity_prune_revocations
DELETE FROM token_revocations
    WHERE id = ANY (ARRAY(
      SELECT id FROM token_revocations WHERE expires_at < now()
       LIMIT 1000 FOR UPDATE SKIP LOCKED))
   RETURNING id

-- identity_read_revocations
SELECT id, kind, subject, agent_workspace_id, expires_at, created_at < now() - interval '2 minutes' AS settled
     FROM token_revocations
    WHERE id > $1 AND expires_at > now()
    ORDER BY id
    LIMIT 5000

-- identity_remove_factor
DELETE FROM user_factors WHERE user_id = $1 RETURNING user_id

-- identity_remove_links
DELETE FROM user_identities WHERE id = ANY($1::uuid[])

-- identity_remove_recovery_codes
DELETE FROM user_recovery_codes WHERE user_id = $1

-- identity_reseal_factor
UPDATE user_factors SET sealed = $2 WHERE user_id = $1 AND sealed = $3

-- identity_revoke_api_key
UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
    WHERE workspace_id = $1 AND id = $2
   RETURNING id

-- identity_revoke_api_keys_of
UPDATE api_keys SET revoked_at = now() WHERE created_by = $1 AND revoked_at IS NULL RETURNING id

-- identity_rotate_session
UPDATE user_sessions s
      SET previous_refresh_hash = s.refresh_hash, refresh_hash = $3, last_used_at = now(),
          expires_at = CASE WHEN s.renews THEN now() + $4::int * interval '1 second' ELSE s.expires_at END
     FROM users u
    WHERE s.id = $1 AND s.refresh_hash = $2 AND s.revoked_at IS NULL AND s.expires_at > now()
      AND u.id = s.user_id AND u.disabled_at IS NULL
   RETURNING s.user_id, s.expires_at

-- identity_session_owner
SELECT user_id FROM user_sessions
    WHERE id = $1 AND refresh_hash = $2 AND revoked_at IS NULL AND expires_at > now()

-- identity_set_password
UPDATE users SET password_hash = $2, version = version + 1, updated_at = now()
    WHERE id = $1 AND ($3::text IS NULL OR password_hash = $3)
   RETURNING id

-- identity_settle_mail
UPDATE workspace_invitations SET email_status = $3, email_problem = $4
    WHERE workspace_id = $1 AND id = $2

-- identity_stamp_api_keys
WITH due AS (
     SELECT k.workspace_id, k.id
       FROM api_keys k
       JOIN unnest($1::uuid[], $2::uuid[]) AS used (workspace_id, id)
         ON used.workspace_id = k.workspace_id AND used.id = k.id
      WHERE k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute'
      ORDER BY k.id
        FOR UPDATE OF k)
   UPDATE api_keys k SET last_used_at = now()
     FROM due WHERE k.workspace_id = due.workspace_id AND k.id = due.id

-- identity_start_session
INSERT INTO user_sessions (id, user_id, refresh_hash, user_agent, ip_address, expires_at, renews, identity_id)
   SELECT $1, u.id, $3, $4, $5, now() + $6::int * interval '1 second', $7::uuid IS NULL, $7
     FROM users u
    WHERE u.id = $2 AND u.disabled_at IS NULL AND ($8::text IS NULL OR u.password_hash = $8)
      FOR SHARE OF u
   RETURNING expires_at

-- identity_take_tokens_issued_by
DELETE FROM agent_tokens t USING workspace_members m
    WHERE m.user_id = $1 AND ($2::uuid IS NULL OR m.workspace_id = $2)
      AND t.workspace_id = m.workspace_id AND t.issued_by = m.user_id
   RETURNING t.id

-- identity_take_tokens_of_key
DELETE FROM agent_tokens WHERE workspace_id = $1 AND issued_by_key = $2 RETURNING id

-- identity_update_user
UPDATE users u
      SET name = coalesce($3, name),
          is_operator = coalesce($4, is_operator),
          disabled_at = CASE WHEN $5::boolean IS NULL THEN disabled_at
                             WHEN $5 THEN coalesce(disabled_at, now()) END,
          password_hash = CASE WHEN $6 AND NOT email_verified THEN NULL ELSE password_hash END,
          email_verified = coalesce($6, email_verified),
          version = version + 1, updated_at = now()
     FROM (SELECT id AS old_id, email_verified AS was_verified FROM users WHERE id = $1 FOR UPDATE) old
    WHERE u.id = old_id AND ($2::int IS NULL OR version = $2)
   RETURNING u.id, u.email_verified AND NOT was_verified AS proven

-- identity_use_recovery_code
DELETE FROM user_recovery_codes WHERE user_id = $1 AND hash = $2
   RETURNING (SELECT count(*)::int - 1 FROM user_recovery_codes WHERE user_id = $1) AS recovery_codes

-- identity_use_step
UPDATE user_factors SET last_step = $2
    WHERE user_id = $1 AND confirmed_at IS NOT NULL AND last_step < $2
   RETURNING user_id
