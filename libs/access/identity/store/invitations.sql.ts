import { command, query } from '#lib/database';
import type { MemberRole } from '#lib/kernel';

/** Lifetime of an invitation, in days. */
export const INVITATION_DAYS = 14;

export interface InvitationRow {
  id: string;
  email: string | null;
  role: MemberRole;
  invited_by: string;
  created_at: Date;
  expires_at: Date;
  /** `lost`: nobody stored what became of the e-mail. */
  email_status: 'sending' | 'sent' | 'failed' | 'lost' | null;
  email_problem: string | null;
}

/**
 * Invites an address, or replaces its invitation. No row for a member's address. As the tenant, who
 * sees only the addresses of its own members, so the answer does not depend on other accounts.
 *
 * Indexes: workspace_invitations_email_key, workspace_members_pkey. $1 workspace, $2 id, $3
 * address, or null for the holder of the link, $4 role, $5 inviter, $6 the hash of the token, $7
 * whether an e-mail is sent now.
 */
export const invite = command<InvitationRow>(
  'identity_invite',
  `INSERT INTO workspace_invitations (workspace_id, id, email, role, invited_by, token_hash, expires_at, email_status)
   SELECT $1, $2, $3, $4, $5, $6, now() + interval '${INVITATION_DAYS} days',
          CASE WHEN $7 AND $3::text IS NOT NULL THEN 'sending' END
    WHERE NOT EXISTS (
      SELECT FROM workspace_members m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 AND u.email = $3)
   ON CONFLICT (workspace_id, email) DO UPDATE
     SET id = excluded.id, role = excluded.role, invited_by = excluded.invited_by, created_at = now(),
         token_hash = excluded.token_hash, expires_at = excluded.expires_at,
         email_status = excluded.email_status, email_problem = NULL
   RETURNING id, email, role, invited_by, created_at, expires_at, email_status, email_problem`,
);

/**
 * The invitations of a workspace that have not expired. As the tenant. A server sends an e-mail
 * within a minute, so a later `sending` is of a server that was killed.
 *
 * Index: primary key. $1 workspace, $2 id to start after, or null, $3 limit.
 */
export const listInvitations = query<InvitationRow>(
  'identity_list_invitations',
  `SELECT id, email, role, invited_by, created_at, expires_at, email_problem,
          CASE WHEN email_status = 'sending' AND created_at < now() - interval '1 minute' THEN 'lost'
               ELSE email_status END AS email_status
     FROM workspace_invitations
    WHERE workspace_id = $1 AND expires_at > now() AND ($2::uuid IS NULL OR id > $2)
    ORDER BY id
    LIMIT $3`,
);

/**
 * The names for the e-mail of an invitation. `trusted` is false if anybody can sign up and the
 * inviter's own address is not proven. As the service role. Indexes: primary keys. $1 workspace, $2
 * invitation, $3 whether passwords prove addresses.
 */
export const findMailOfInvitation = query<{
  workspace_name: string;
  invited_by_name: string;
  trusted: boolean;
}>(
  'identity_find_mail_of_invitation',
  `SELECT w.name AS workspace_name, inviter.name AS invited_by_name,
          $3 OR inviter.password_hash IS NULL OR inviter.is_operator AS trusted
     FROM workspace_invitations i
     JOIN workspaces w ON w.id = i.workspace_id
     JOIN users inviter ON inviter.id = i.invited_by
    WHERE i.workspace_id = $1 AND i.id = $2`,
);

/**
 * Stores what became of the e-mail of an invitation. Index: primary key. $1 workspace, $2
 * invitation, $3 status, $4 problem or null.
 */
export const settleMail = command(
  'identity_settle_mail',
  `UPDATE workspace_invitations SET email_status = $3, email_problem = $4
    WHERE workspace_id = $1 AND id = $2`,
);

/** Invitations that can be accepted: the inviter could still invite today. */
export const OPEN = `workspace_invitations i
     JOIN workspaces w ON w.id = i.workspace_id AND w.archived_at IS NULL AND i.expires_at > now()
     JOIN workspace_members m ON m.workspace_id = i.workspace_id AND m.user_id = i.invited_by
      AND (m.role = 'OWNER' OR m.role = 'ADMIN' AND i.role <> 'OWNER')
     JOIN users inviter ON inviter.id = m.user_id AND inviter.disabled_at IS NULL`;

/** The same, with the user of the invited address. */
const OPEN_OF_USER = `${OPEN}
     JOIN users u ON u.email = i.email`;

/**
 * The open invitation of a link. As the service role, because no tenant is known. Index:
 * workspace_invitations_token_hash_key. $1 the hash of the token.
 */
export const findLink = query<{
  workspace_name: string;
  email: string | null;
  role: MemberRole;
  invited_by_name: string;
  expires_at: Date;
}>(
  'identity_find_link',
  `SELECT w.name AS workspace_name, i.email, i.role, inviter.name AS invited_by_name, i.expires_at
     FROM ${OPEN}
    WHERE i.token_hash = $1`,
);

/**
 * The invitations of a user's address. None if nobody knows that it is the user's: such a user must
 * know the id or have the link.
 *
 * Index: workspace_invitations_addressee_idx. $1 user, $2 whether passwords prove addresses, $3 id
 * to start after, $4 limit.
 */
export const listInvitationsOf = query<{
  id: string;
  workspace_id: string;
  workspace_name: string;
  role: MemberRole;
  invited_by_name: string;
  created_at: Date;
  expires_at: Date;
}>(
  'identity_list_invitations_of',
  `SELECT i.id, i.workspace_id, w.name AS workspace_name, i.role, inviter.name AS invited_by_name, i.created_at,
          i.expires_at
     FROM ${OPEN_OF_USER}
    WHERE u.id = $1 AND ($2 AND u.email_verified OR u.password_hash IS NULL) AND ($3::uuid IS NULL OR i.id > $3)
    ORDER BY i.id
    LIMIT $4`,
);

export interface Accepted {
  workspace_id: string;
  role: MemberRole;
  /** The address of the inviter. */
  invited_by: string;
  made: boolean;
}

/**
 * Makes the user with the invited address a member. No row if no invitation can be accepted. `made`
 * is false if the user already is a member.
 *
 * The inviter is locked first, like the statements that end that membership do. Indexes:
 * workspace_invitations_addressee_idx, primary keys. $1 invitation, $2 user.
 */
export const acceptInvitation = command<Accepted>(
  'identity_accept_invitation',
  accept(`${OPEN_OF_USER}
      WHERE i.id = $1 AND u.id = $2`),
);

/**
 * The same by the link, whose holder is invited if the invitation names no address.
 *
 * Indexes: workspace_invitations_token_hash_key, primary keys. $1 the hash of the token, $2 user.
 */
export const acceptLink = command<Accepted>(
  'identity_accept_link',
  accept(`${OPEN}
       JOIN users u ON u.email = coalesce(i.email, u.email)
      WHERE i.token_hash = $1 AND u.id = $2`),
);

/** SQL: `open` selects one invitation. */
function accept(open: string): string {
  return `WITH chosen AS (
     SELECT i.workspace_id, i.id, i.role, inviter.email AS invited_by
       FROM ${open}
        FOR SHARE OF m FOR UPDATE OF i),
   taken AS (
     DELETE FROM workspace_invitations i USING chosen c
      WHERE i.workspace_id = c.workspace_id AND i.id = c.id),
   made AS (
     INSERT INTO workspace_members (workspace_id, user_id, role)
     SELECT workspace_id, $2, role FROM chosen
     ON CONFLICT (workspace_id, user_id) DO NOTHING
     RETURNING user_id)
   SELECT workspace_id, role, invited_by, EXISTS (SELECT FROM made) AS made FROM chosen`;
}

/** Index: workspace_invitations_addressee_idx. $1 invitation, $2 user. */
export const declineInvitation = command<{ id: string }>(
  'identity_decline_invitation',
  `DELETE FROM workspace_invitations i USING users u
    WHERE i.id = $1 AND u.id = $2 AND i.email = u.email AND i.expires_at > now()
   RETURNING i.id`,
);

/**
 * Ends the invitations that a user made in all workspaces. As the service role. Indexes:
 * workspace_members_user_id_idx, workspace_invitations_inviter_idx. $1 user.
 */
export const endInvitationsBy = command(
  'identity_end_invitations_by',
  `DELETE FROM workspace_invitations i USING workspace_members m
    WHERE m.user_id = $1 AND i.workspace_id = m.workspace_id AND i.invited_by = m.user_id`,
);

/**
 * Ends the workspace's invitation of a member. A member who was added in another way could
 * otherwise return with it. As the tenant, who sees only the addresses of its own members.
 *
 * Indexes: workspace_invitations_email_key, users_pkey. $1 workspace, $2 user.
 */
export const endInvitationOfMember = command(
  'identity_end_invitation_of_member',
  `DELETE FROM workspace_invitations i USING users u
    WHERE i.workspace_id = $1 AND u.id = $2 AND i.email = u.email`,
);
