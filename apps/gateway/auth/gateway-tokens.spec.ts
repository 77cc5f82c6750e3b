import { describe, expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { GatewayTokens } from './gateway-tokens.js';

const SECRET = 'a-gateway-secret-of-more-than-32-characters';
const tokens = new GatewayTokens(SECRET, 'gateway');
const passport = tokens.forServer();
const now = Math.floor(Date.now() / 1000);

const GOOD = {
  iss: 'drover-server',
  aud: 'drover:gateway-proof',
  sub: passport.id,
  iat: now,
  exp: now + 60,
};

function proof(values: object = {}, secret = SECRET, algorithm: jwt.Algorithm = 'HS256'): string {
  return jwt.sign({ ...GOOD, ...values }, algorithm === 'none' ? '' : secret, { algorithm });
}

describe('The server’s proof', () => {
  test('a proof holds for the call that it names', () => {
    expect(tokens.proves(proof(), passport)).toBe(true);
    expect(tokens.proves(proof(), tokens.forServer())).toBe(false);
  });

  test.each<[string, string | null]>([
    ['none', null],
    ['nonsense', 'nonsense'],
    ['a very long one', proof({ filling: 'x'.repeat(5_000) })],
    ['another secret', proof({}, 'another-secret-of-more-than-32-characters')],
    ['no signature', proof({}, '', 'none')],
    ['another algorithm', proof({}, SECRET, 'HS512')],
    ['an old one', proof({ iat: now - 200, exp: now - 31 })],
    ['one for the gateway’s calls', proof({ aud: 'drover-gateway' })],
    ['what the gateway proves itself with', tokens.prove(passport.id)],
    ['the call itself', passport.token],
    [
      'one with an unknown extension',
      jwt.sign(GOOD, SECRET, { header: { alg: 'HS256', crit: ['b64'] } as jwt.JwtHeader }),
    ],
  ])('a proof does not hold: %s', (_, value) => {
    expect(tokens.proves(value, passport)).toBe(false);
  });
});
