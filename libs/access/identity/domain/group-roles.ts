import type { GroupRole } from '#lib/config';
import type { MemberRole } from '#lib/kernel';
import { isAtLeast } from './roles.js';

/** A role, and the group that gives it. */
export interface RoleOfGroup {
  role: MemberRole;
  group: string;
}

/**
 * The role of a user with these groups in each workspace that the rules name, by its slug.
 * Undefined means none. If several groups match, the strongest role applies.
 */
export function decideGroupRoles(
  groups: readonly string[],
  rules: readonly GroupRole[],
): Map<string, RoleOfGroup | undefined> {
  const roles = new Map<string, RoleOfGroup | undefined>();
  for (const { group, workspace, role } of rules) {
    const current = roles.get(workspace);
    const wins = groups.includes(group) && !(current && isAtLeast(current.role, role));
    roles.set(workspace, wins ? { role, group } : current);
  }
  return roles;
}
