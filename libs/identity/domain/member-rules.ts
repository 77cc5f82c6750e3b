import type { MemberRole } from '#lib/kernel';
import { isAtLeast } from './roles.js';

/** The member who changes a membership. */
export interface Actor {
  userId: string;
  role: MemberRole;
}

export interface MemberState {
  userId: string;
  role: MemberRole;
}

export type MemberDecision =
  { kind: 'allowed' } | { kind: 'forbidden'; detail: string } | { kind: 'last_owner' };

const ALLOWED: MemberDecision = { kind: 'allowed' };

/** ADMINs and OWNERs add members; only an OWNER makes an OWNER. */
export function decideAdd(actor: Actor, role: MemberRole): MemberDecision {
  if (!isAtLeast(actor.role, 'ADMIN')) return forbidden('Only an OWNER or ADMIN adds members.');
  return mayGrant(actor, role);
}

/** @param owners how many OWNERs the workspace has, the member included */
export function decideChange(
  actor: Actor,
  member: MemberState,
  role: MemberRole,
  owners: number,
): MemberDecision {
  if (!isAtLeast(actor.role, 'ADMIN')) return forbidden('Only an OWNER or ADMIN changes roles.');
  if (member.role === 'OWNER' && actor.role !== 'OWNER') {
    return forbidden('Only an OWNER changes the role of an OWNER.');
  }
  const grant = mayGrant(actor, role);
  if (grant.kind !== 'allowed') return grant;
  return member.role === 'OWNER' && role !== 'OWNER' ? keepAnOwner(owners) : ALLOWED;
}

/** Everybody may leave, but for the last OWNER. */
export function decideRemove(actor: Actor, member: MemberState, owners: number): MemberDecision {
  const leaves = actor.userId === member.userId;
  if (!leaves && !isAtLeast(actor.role, 'ADMIN')) {
    return forbidden('Only an OWNER or ADMIN removes others.');
  }
  if (!leaves && member.role === 'OWNER' && actor.role !== 'OWNER') {
    return forbidden('Only an OWNER removes an OWNER.');
  }
  return member.role === 'OWNER' ? keepAnOwner(owners) : ALLOWED;
}

function mayGrant(actor: Actor, role: MemberRole): MemberDecision {
  if (role !== 'OWNER' || actor.role === 'OWNER') return ALLOWED;
  return forbidden('Only an OWNER makes somebody OWNER.');
}

function keepAnOwner(owners: number): MemberDecision {
  return owners > 1 ? ALLOWED : { kind: 'last_owner' };
}

function forbidden(detail: string): MemberDecision {
  return { kind: 'forbidden', detail };
}
