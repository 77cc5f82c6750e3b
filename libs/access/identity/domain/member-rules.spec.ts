import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { MemberRole } from '#lib/kernel';
import { decideAdd, decideChange, decideRemove } from './member-rules.js';
import { MEMBER_ROLES } from './roles.js';
import { SCOPES } from './scopes.js';

const me = (role: MemberRole) => ({ userId: 'me', role });
const other = (role: MemberRole) => ({ userId: 'other', role });

describe('adding a member', () => {
  it.each<[MemberRole, MemberRole[]]>([
    ['OWNER', ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER']],
    ['ADMIN', ['VIEWER', 'MEMBER', 'ADMIN']],
    ['MEMBER', []],
    ['VIEWER', []],
  ])('%s makes %j', (role, expected) => {
    const allowed = MEMBER_ROLES.filter((made) => decideAdd(me(role), made).kind === 'allowed');
    expect(allowed).toEqual(expected);
  });
});

describe('changing a role', () => {
  const all = MEMBER_ROLES.flatMap((actor) =>
    MEMBER_ROLES.flatMap((from) => MEMBER_ROLES.map((to) => ({ actor, from, to }))),
  );
  it.each(all)('$actor moves a member from $from to $to', ({ actor, from, to }) => {
    const concernsOwners = from === 'OWNER' || to === 'OWNER';
    const expected = actor === 'OWNER' || (actor === 'ADMIN' && !concernsOwners);
    const { kind } = decideChange(me(actor), other(from), to, 2);
    expect(kind).toBe(expected ? 'allowed' : 'forbidden');
  });

  it('the last OWNER keeps the role', () => {
    expect(decideChange(me('OWNER'), me('OWNER'), 'ADMIN', 1).kind).toBe('last_owner');
    expect(decideChange(me('OWNER'), me('OWNER'), 'OWNER', 1).kind).toBe('allowed');
  });
});

describe('an API key', () => {
  const key = (scopes: readonly string[]) => ({ ...me('ADMIN'), scopes });
  const all = SCOPES.filter((scope) => !scope.endsWith(':read'));

  it.each(all)('a key without the scope %s grants nothing, but can remove', (lacking) => {
    const actor = key(SCOPES.filter((scope) => scope !== lacking));
    expect(MEMBER_ROLES.map((role) => decideAdd(actor, role).kind)).not.toContain('allowed');
    expect(decideChange(actor, other('VIEWER'), 'MEMBER', 2).kind).toBe('forbidden');
    expect(decideChange(actor, other('ADMIN'), 'MEMBER', 2).kind).toBe('allowed');
    expect(decideChange(actor, other('MEMBER'), 'MEMBER', 2).kind).toBe('allowed');
    expect(decideRemove(actor, other('ADMIN'), 2).kind).toBe('allowed');
  });

  it('a key with all scopes grants what its role can', () => {
    const allowed = MEMBER_ROLES.filter((role) => decideAdd(key(all), role).kind === 'allowed');
    expect(allowed).toEqual(['VIEWER', 'MEMBER', 'ADMIN']);
    expect(decideChange(key(all), other('VIEWER'), 'ADMIN', 2).kind).toBe('allowed');
  });
});

describe('removing a member', () => {
  it.each(MEMBER_ROLES)('%s can leave while another owner stays', (role) => {
    expect(decideRemove(me(role), me(role), 2).kind).toBe('allowed');
  });

  const pairs = MEMBER_ROLES.flatMap((actor) => MEMBER_ROLES.map((target) => ({ actor, target })));
  it.each(pairs)('$actor removes $target', ({ actor, target }) => {
    const expected = actor === 'OWNER' || (actor === 'ADMIN' && target !== 'OWNER');
    const { kind } = decideRemove(me(actor), other(target), 2);
    expect(kind).toBe(expected ? 'allowed' : 'forbidden');
  });

  it('the last OWNER cannot be removed', () => {
    expect(decideRemove(me('OWNER'), me('OWNER'), 1).kind).toBe('last_owner');
  });
});

describe('any sequence of decisions', () => {
  it('any sequence of decisions leaves an OWNER', () => {
    const role = fc.constantFrom(...MEMBER_ROLES);
    const step = fc.record({ actor: fc.nat(3), target: fc.nat(3), to: role, remove: fc.boolean() });
    const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const members = new Map<string, MemberRole>([
        ['0', 'OWNER'],
        ['1', 'OWNER'],
        ['2', 'ADMIN'],
        ['3', 'VIEWER'],
      ]);
      for (const { actor, target, to, remove } of steps) {
        const [a, t] = [members.get(String(actor)), members.get(String(target))];
        if (a === undefined || t === undefined) continue;
        const owners = [...members.values()].filter((r) => r === 'OWNER').length;
        const who = { userId: String(actor), role: a };
        const whom = { userId: String(target), role: t };
        const decision = remove
          ? decideRemove(who, whom, owners)
          : decideChange(who, whom, to, owners);
        if (decision.kind !== 'allowed') continue;
        if (remove) members.delete(whom.userId);
        else members.set(whom.userId, to);
      }
      expect([...members.values()]).toContain('OWNER');
    });
    fc.assert(property);
  });
});
