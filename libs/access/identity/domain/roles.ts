import type { MemberRole } from '#lib/kernel';

/** From the weakest to the strongest. */
export const MEMBER_ROLES = ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER'] as const;

/** Whether `role` includes all permissions of `minimum`. */
export function isAtLeast(role: MemberRole, minimum: MemberRole): boolean {
  return MEMBER_ROLES.indexOf(role) >= MEMBER_ROLES.indexOf(minimum);
}

/** The weaker of the two roles. */
export function lesserRole(a: MemberRole, b: MemberRole): MemberRole {
  return isAtLeast(a, b) ? b : a;
}
