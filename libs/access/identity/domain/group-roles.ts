import type { GroupRole } from '#lib/config';
import type { MemberRole } from '#lib/kernel';
import { isAtLeast } from './roles.js';

/**
 * The role of a user with these groups in each workspace that the rules name, by its slug. Undefined
 * means none. If several groups match, the strongest role applies.
 */
export function decideGroupRoles(
  groups: readonly string[],
  rules: readonly GroupRole[],
): Map<string, MemberRole | undefined> {
  const roles = new Map<string, MemberRole | undefined>();
  for (const { group, workspace, role } of rules) {
    const current = roles.get(workspace);
    const wins = groups.includes(group) && (current === undefined || !isAtLeast(current, role));
    roles.set(workspace, wins ? role : current);
  }
  return roles;
}
