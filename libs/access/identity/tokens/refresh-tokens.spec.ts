import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '#lib/kernel';
import { RefreshTokens } from './refresh-tokens.js';

type Settings = ConstructorParameters<typeof RefreshTokens>[0];

function withSecrets(jwtSecret: string, jwtPreviousSecrets: string[] = []): RefreshTokens {
  return new RefreshTokens({ identity: { jwtSecret, jwtPreviousSecrets } } as unknown as Settings);
}

const tokens = withSecrets('first');

describe('refresh tokens', () => {
  it('a refresh token gives its session and the stored hash', () => {
    const sessionId = newId();
    const { token, hash } = tokens.issue(sessionId);
    expect(tokens.open(token)).toEqual({ sessionId, hash });
  });

  it('refresh tokens are unique', () => {
    const sessionId = newId();
    expect(tokens.issue(sessionId).token).not.toBe(tokens.issue(sessionId).token);
  });

  it('refresh tokens survive a change of the secret while the old one is known', () => {
    const { token } = tokens.issue(newId());
    expect(withSecrets('second', ['first']).open(token)).toBeDefined();
    expect(withSecrets('second').open(token)).toBeUndefined();
  });

  it('an altered refresh token is refused', () => {
    const { token } = tokens.issue(newId());
    const bytes = Buffer.from(token.slice(4), 'base64url');
    const property = fc.property(
      fc.nat(bytes.length - 1),
      fc.integer({ min: 1, max: 255 }),
      (index, flip) => {
        const changed = Buffer.from(bytes);
        changed[index] = (changed[index] ?? 0) ^ flip;
        expect(tokens.open(`drr_${changed.toString('base64url')}`)).toBeUndefined();
      },
    );
    fc.assert(property);
  });

  it.each(['', 'drr_', 'x', `drr_${'A'.repeat(75)}`, `drr_${'!'.repeat(75)}`])(
    '%j is no refresh token',
    (text) => expect(tokens.open(text)).toBeUndefined(),
  );
});
