import { describe, expect, it } from '@jest/globals';
import { type Caller, DroverError, type MemberRole } from '#lib/kernel';
import { checkKind, checkRights, planAccess } from './access-plan.js';
import { MEMBER_ROLES } from './roles.js';
import { covers, type Scope, SCOPES } from './scopes.js';

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'allowed';
  } catch (error) {
    return error instanceof DroverError ? error.code : `mistake: ${(error as Error).message}`;
  }
}

const user = (role: MemberRole): Caller => ({
  kind: 'user',
  workspaceId: 'w',
  userId: 'u',
  sessionId: 's',
  role,
});
const apiKey = (role: MemberRole, scopes: Scope[]): Caller => ({
  kind: 'api_key',
  workspaceId: 'w',
  apiKeyId: 'k',
  userId: 'u',
  role,
  scopes,
});

describe('an access plan', () => {
  const pairs = MEMBER_ROLES.flatMap((role, has) =>
    MEMBER_ROLES.map((minimum, needs) => ({ role, minimum, allowed: has >= needs })),
  );
  it.each(pairs)('$role can use a route for $minimum: $allowed', ({ role, minimum, allowed }) => {
    const plan = planAccess({ role: minimum, scope: 'tasks:read' });
    const expected = allowed ? 'allowed' : 'forbidden';
    expect(codeOf(() => checkRights(plan, user(role)))).toBe(expected);
    expect(codeOf(() => checkRights(plan, apiKey(role, ['tasks:read'])))).toBe(expected);
  });

  it.each(SCOPES)('a key of the scope %s can do only that', (scope) => {
    const allowed = SCOPES.filter((needed) => {
      const plan = planAccess({ scope: needed });
      return codeOf(() => checkRights(plan, apiKey('OWNER', [scope]))) === 'allowed';
    });
    const reading = scope.replace(':write', ':read');
    expect(new Set(allowed)).toEqual(new Set([scope, reading]));
  });

  it('a route without a scope admits no key', () => {
    const plan = planAccess({ kinds: ['user'] });
    expect(codeOf(() => checkRights(plan, apiKey('OWNER', [...SCOPES])))).toBe(
      'insufficient_scope',
    );
  });

  it('a refusal names the accepted kinds', () => {
    const plan = planAccess({ kinds: ['agent', 'run'] });
    expect(codeOf(() => checkKind(plan, 'user'))).toBe('wrong_token_kind');
    expect(codeOf(() => checkKind(plan, 'run'))).toBe('allowed');
  });

  it.each([
    ['API keys without a scope', {}],
    ['agents without a workspace', { workspace: false, kinds: ['agent'] as const }],
    ['operators in a workspace', { operator: true, kinds: ['user'] as const }],
  ])('a plan cannot be for %s', (_, options) => {
    expect(codeOf(() => planAccess(options))).toMatch(/^mistake/);
  });

  it('write includes read, and not the reverse', () => {
    expect(covers(['tasks:write'], 'tasks:read')).toBe(true);
    expect(covers(['tasks:read'], 'tasks:write')).toBe(false);
  });
});
