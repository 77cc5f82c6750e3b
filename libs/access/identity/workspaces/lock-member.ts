import { firstRow, type SqlRunner } from '#lib/database';
import type { MemberRole } from '#lib/kernel';
import { findEnabledUser, lockMemberships, lockRole } from './members.sql.js';

/**
 * Locks the membership of a caller, whose role at the guard can be three seconds old.
 *
 * @returns the role; undefined if the user was removed or disabled meanwhile
 */
export async function lockEnabledMember(
  tx: SqlRunner,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<MemberRole | undefined> {
  const member = await firstRow(tx, lockRole, [workspaceId, userId]);
  // The request that disables a user holds the lock until its commit.
  const user = await firstRow(tx, findEnabledUser, [userId]);
  return user && member?.role;
}

/**
 * Locks the memberships of a user and waits for requests that issue a token or create a hook.
 *
 * @param tx of the service role
 * @returns the ids of the workspaces
 */
export async function lockMembershipsOf(tx: SqlRunner, userId: string): Promise<string[]> {
  const rows = await tx.rows(lockMemberships, [userId]);
  return rows.map(({ workspace_id: workspaceId }) => workspaceId);
}
