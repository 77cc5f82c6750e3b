import type { MemberRole } from '#lib/kernel';

/** From the least to the most powerful. */
export const MEMBER_ROLES = ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER'] as const;

/** Whether `role` can do everything that `minimum` can. */
export function isAtLeast(role: MemberRole, minimum: MemberRole): boolean {
  return MEMBER_ROLES.indexOf(role) >= MEMBER_ROLES.indexOf(minimum);
}

/** The less powerful of the two. */
export function lesserRole(a: MemberRole, b: MemberRole): MemberRole {
  return isAtLeast(a, b) ? b : a;
}
