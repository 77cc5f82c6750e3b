import type { MemberRole } from '#lib/kernel';
import { isAtLeast } from './roles.js';
import { covers, SCOPES } from './scopes.js';

/** The member who changes a membership. */
export interface Actor {
  userId: string;
  role: MemberRole;
  /** The scopes, if the actor is an API key. */
  scopes?: readonly string[];
}

export interface MemberState {
  userId: string;
  role: MemberRole;
}

export type MemberDecision =
  | { kind: 'allowed' }
  | { kind: 'forbidden'; detail: string }
  | { kind: 'last_owner' };

const ALLOWED: MemberDecision = { kind: 'allowed' };

/**
 * ADMINs and OWNERs add and invite members. Only an OWNER can create an OWNER, and only a key with
 * all scopes can invite.
 */
export function decideAdd(actor: Actor, role: MemberRole): MemberDecision {
  if (!isAtLeast(actor.role, 'ADMIN')) return forbidden('Only an OWNER or ADMIN adds members.');
  return mayGrant(actor, role);
}

/**
 * @param owners number of OWNERs of the workspace, including the member
 */
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
  const grant = isAtLeast(member.role, role) ? ALLOWED : mayGrant(actor, role);
  if (grant.kind !== 'allowed') return grant;
  return member.role === 'OWNER' && role !== 'OWNER' ? keepAnOwner(owners) : ALLOWED;
}

/** Every member can leave, except the last OWNER. */
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

/**
 * Members have no scopes. A key could raise somebody who then does what the key cannot, and creates
 * keys that can. So only a key with all scopes can grant a role.
 */
function mayGrant(actor: Actor, role: MemberRole): MemberDecision {
  const { scopes } = actor;
  if (scopes && !SCOPES.every((scope) => covers(scopes, scope))) {
    return forbidden('An API key without all scopes invites nobody, and raises nobody.');
  }
  if (role !== 'OWNER' || actor.role === 'OWNER') return ALLOWED;
  return forbidden('Only an OWNER makes somebody OWNER.');
}

function keepAnOwner(owners: number): MemberDecision {
  return owners > 1 ? ALLOWED : { kind: 'last_owner' };
}

function forbidden(detail: string): MemberDecision {
  return { kind: 'forbidden', detail };
}
