import { describe, expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { aSpawn, SECRET, serverToken } from './testing/gateway-process.js';
import { oneGateway } from './testing/world.js';

describe('Requests to a gateway', () => {
  const world = oneGateway();

  describe('The authentication of the server', () => {
    /** Seconds since 1970, in some seconds. Each request has its own token: a slow test outlives one. */
    const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
    test.each<[string, () => string, string]>([
      ['no token', () => '', 'unauthenticated'],
      ['nonsense', () => 'nonsense', 'invalid_token'],
      [
        'another secret',
        () => serverToken({}, 'another-secret-of-more-than-32-characters'),
        'invalid_token',
      ],
      ['no signature', () => serverToken({}, '', 'none'), 'invalid_token'],
      ['another algorithm', () => serverToken({}, SECRET, 'HS512'), 'invalid_token'],
      [
        'an expired token',
        () => serverToken({ iat: inSeconds(-200), exp: inSeconds(-31) }),
        'token_expired',
      ],
      [
        'a clock that is ahead',
        () => serverToken({ iat: inSeconds(45), exp: inSeconds(105) }),
        'invalid_token',
      ],
      [
        'a clock that is behind',
        () => serverToken({ iat: inSeconds(-45), exp: inSeconds(15) }),
        'invalid_token',
      ],
      ['another audience', () => serverToken({ aud: 'drover-server' }), 'invalid_token'],
      ['another issuer', () => serverToken({ iss: 'drover-gateway' }), 'invalid_token'],
      ['no id', () => serverToken({ jti: undefined }), 'invalid_token'],
      ['no expiry', () => serverToken({ exp: undefined }), 'invalid_token'],
    ])('a request with %s is refused', async (_, token, code) => {
      for (const [method, path] of [
        ['POST', '/api/agents/spawn'],
        ['POST', '/%61pi/agents/spawn'],
        ['POST', '/api/sessions/spawn'],
        ['GET', '/api/sessions'],
        ['DELETE', '/api/sessions/x'],
        ['GET', '/api/nowhere'],
      ] as const) {
        const body = method === 'POST' ? aSpawn('exit 0') : undefined;
        const answer = await world.gateway.ask(method, path, body, token());
        expect([path, answer.status, answer.body['code']]).toEqual([path, 401, code]);
        expect(answer.headers.get('content-type')).toContain('application/problem+json');
        expect(answer.headers.get('drover-gateway-proof')).toBeNull();
      }
    });

    test('the gateway proves itself on every answer, errors too', async () => {
      const token = serverToken();
      const { jti } = jwt.decode(token) as jwt.JwtPayload;
      for (const path of ['/api/sessions', '/api/sessions/x', '/api/nowhere']) {
        const { headers } = await world.gateway.ask('GET', path, undefined, token);
        const proof = jwt.verify(headers.get('drover-gateway-proof') ?? '', SECRET, {
          algorithms: ['HS256'],
          issuer: 'drover-gateway',
          audience: 'drover-server',
        }) as jwt.JwtPayload;
        expect(proof.sub).toBe(jti);
        expect((proof.exp ?? 0) - (proof.iat ?? 0)).toBe(60);
      }
    });

    test("everybody can read the gateway's health", async () => {
      expect((await world.gateway.ask('GET', '/healthz', undefined, '')).status).toBe(200);
      const { body } = await world.gateway.ask('GET', '/readyz', undefined, '');
      expect(body).toEqual({ status: 'ready', server: 'reachable' });
    });
  });

  test.each([
    [{ surprise: 1 }, 'surprise'],
    [{ runId: 'x' }, 'runId'],
    [{ command: 'sh -c true' }, 'command'],
    [{ command: [] }, 'command'],
    [{ command: [''] }, 'command[0]'],
    [{ command: ['sh', 'a\0b'] }, 'command[1]'],
    [{ context: undefined }, 'context'],
    [{ context: { taskTitle: 'x', inputContext: [] } }, 'context.inputContext'],
    [{ generation: 0 }, 'generation'],
    [{ apiUrl: 'file:///etc/passwd' }, 'apiUrl'],
    [{ timeoutSeconds: -1 }, 'timeoutSeconds'],
  ])('the request with %j is refused', async (more, field) => {
    const { status, body } = await world.gateway.spawn(aSpawn('exit 0', more));
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'validation_failed',
      errors: expect.arrayContaining([expect.objectContaining({ field })]),
    });
  });

  const nested = (levels: number): object => (levels === 1 ? { x: 1 } : { x: nested(levels - 1) });

  test("a request can be as deep as the server's", async () => {
    // The server accepts 64 levels, and the outermost one is the request itself.
    const context = { taskTitle: 'Deep', inputContext: nested(63), checkpointData: nested(63) };
    expect(await world.gateway.spawn(aSpawn('exit 0', { context }))).toMatchObject({ status: 201 });
    const deeper = { ...context, inputContext: nested(71) };
    const { status } = await world.gateway.spawn(aSpawn('exit 0', { context: deeper }));
    expect(status).toBe(400);
  });

  test.each(['DROVER_RUN_TOKEN', 'LD_PRELOAD', 'NODE_OPTIONS', 'a b'])(
    'the variable %s is refused',
    async (name) => {
      const { body } = await world.gateway.ask('POST', '/api/sessions/spawn', {
        sessionLabel: 'x',
        command: ['true'],
        env: { [name]: 'x' },
      });
      expect(body).toMatchObject({ errors: [{ field: `env.${name}` }] });
    },
  );

  test('invalid JSON, an unknown session and an invalid id are refused', async () => {
    expect((await world.gateway.ask('POST', '/api/agents/spawn', '{')).body['code']).toBe(
      'malformed_json',
    );
    expect(
      (await world.gateway.ask('DELETE', `/api/sessions/${aSpawn('').runId}`)).body['code'],
    ).toBe('session_not_found');
    expect((await world.gateway.ask('GET', '/api/sessions/x')).status).toBe(400);
    expect((await world.gateway.ask('GET', '/api/sessions?status=GONE')).status).toBe(400);
  });

  test.each([
    [{ runId: undefined }, 'runId'],
    [{ runToken: undefined }, 'runToken'],
  ])('an incomplete run is refused: %j', async (more, field) => {
    const { body } = await world.gateway.spawn(aSpawn('exit 0', more));
    expect(body).toMatchObject({ code: 'validation_failed', errors: [{ field }] });
  });

  test('a session with a later start is refused', async () => {
    const body = { sessionLabel: 'later', autoStart: false };
    const answer = await world.gateway.ask('POST', '/api/sessions/spawn', body);
    expect(answer.body).toMatchObject({ errors: [{ field: 'autoStart' }] });
  });
});
