import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import type { Config } from '#lib/config';
import { Logger } from '#lib/observability';
import { GatewayTokens } from '../gateway/gateway-tokens.js';
import { GatewayGuard } from './gateway.guard.js';

function aGuard(secret?: string) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const tokens = new GatewayTokens({ gateway: { secret } as Config['gateway'] });
  const guard = new GatewayGuard(tokens, Logger.create({ level: 'warn', destination: { write } }));
  const ask = (authorization?: string) => () => {
    const request = { headers: { authorization }, ip: '10.0.0.7' };
    const http = { getRequest: () => request, getResponse: () => ({ header: () => undefined }) };
    return guard.canActivate({ switchToHttp: () => http } as unknown as ExecutionContext);
  };
  return { ask, lines };
}

describe('a refused token of a gateway', () => {
  it.each([
    ['a'.repeat(32), 'GATEWAY_SECRET must be the same at both, and their clocks must agree'],
    [undefined, 'GATEWAY_SECRET is not set here'],
  ])('a refused token is logged with its cause, but not each time', (secret, why) => {
    const { ask, lines } = aGuard(secret);
    for (let i = 0; i < 3; i++) expect(ask('Bearer x.y.z')).toThrow('not valid');
    expect(lines).toMatchObject([{ level: 'warn', why, from: '10.0.0.7' }]);
    expect(lines).toHaveLength(1);
  });

  it.each([
    [3_600, 's ahead of'],
    [45, 's ahead of'],
    [-45, 's behind'],
    [-3_600, 's behind'],
  ])('a refused token is logged with the clock that is wrong by %s s', (seconds, said) => {
    const secret = 'a'.repeat(32);
    const { ask, lines } = aGuard(secret);
    const iat = Math.floor(Date.now() / 1000) + seconds;
    const claims = { typ: 'gateway', sub: 'the-gateway', jti: '1', iat, exp: iat + 60 };
    const names = { issuer: 'drover-gateway', audience: 'drover:gateway' };
    expect(ask(`Bearer ${jwt.sign(claims, secret, names)}`)).toThrow(said);
    expect(lines).toMatchObject([{ why: expect.stringMatching(`the-gateway is \\d+ ${said}`) }]);
  });

  it('a token with an unknown critical extension is refused', () => {
    const secret = 'a'.repeat(32);
    const { ask } = aGuard(secret);
    const token = (header: object) =>
      jwt.sign({ typ: 'gateway' }, secret, {
        header: { alg: 'HS256', ...header },
        issuer: 'drover-gateway',
        audience: 'drover:gateway',
        subject: 'a-gateway',
        jwtid: 'an-id',
        expiresIn: 60,
      });
    expect(ask(`Bearer ${token({})}`)).not.toThrow();
    expect(ask(`Bearer ${token({ crit: ['b64'] })}`)).toThrow('not valid');
  });

  it('a request without a token is refused without a log line', () => {
    const { ask, lines } = aGuard('a'.repeat(32));
    expect(ask()).toThrow('no credentials');
    expect(lines).toEqual([]);
  });
});
