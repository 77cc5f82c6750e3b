import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import {
  killMarked,
  processesWith,
  uniqueSeconds,
} from '../../libs/hosts/session-runtime/testing/processes.js';
import { waitFor } from '../../test/support/wait-for.js';
import { aSpawn, SECRET, serverToken } from './testing/gateway-process.js';
import { oneGateway } from './testing/world.js';

const seconds = uniqueSeconds();
/** The request is in the task file. A prompt with "fail" fails. */
const DEFAULT = `grep -q 'ask to fail' "$DROVER_TASK_FILE" && exit 3
grep -q 'ask to end' "$DROVER_TASK_FILE" && exit 0
exec sleep ${seconds}`;

afterAll(killMarked);

describe('Requests to a gateway', () => {
  const world = oneGateway({ GATEWAY_DEFAULT_COMMAND: JSON.stringify(['sh', '-c', DEFAULT]) });

  describe('The authentication of the server', () => {
    const now = Math.floor(Date.now() / 1000);
    test.each([
      ['no token', '', 'unauthenticated'],
      ['nonsense', 'nonsense', 'invalid_token'],
      [
        'another secret',
        serverToken({}, 'another-secret-of-more-than-32-characters'),
        'invalid_token',
      ],
      ['no signature', serverToken({}, '', 'none'), 'invalid_token'],
      ['another algorithm', serverToken({}, SECRET, 'HS512'), 'invalid_token'],
      ['an expired token', serverToken({ iat: now - 200, exp: now - 31 }), 'token_expired'],
      ['a clock that is ahead', serverToken({ iat: now + 45, exp: now + 105 }), 'invalid_token'],
      ['a clock that is behind', serverToken({ iat: now - 45, exp: now + 15 }), 'invalid_token'],
      ['another audience', serverToken({ aud: 'drover-server' }), 'invalid_token'],
      ['another issuer', serverToken({ iss: 'drover-gateway' }), 'invalid_token'],
      ['no id', serverToken({ jti: undefined }), 'invalid_token'],
      ['no expiry', serverToken({ exp: undefined }), 'invalid_token'],
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
        const answer = await world.gateway.ask(method, path, body, token);
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

  /*
   * The requests of the documents that the gateway was designed by, word by word. Ids, tokens and
   * hosts are replaced, and the callers have a server token.
   */
  describe('The requests of the documents', () => {
    const forTask = () => {
      const id = randomUUID();
      return {
        workspaceId: randomUUID(),
        agentId: randomUUID(),
        taskId: id,
        label: `task:${id}:${'Fix TypeScript strict errors in U-Connect'.slice(0, 30)}`,
        context: {
          taskTitle: 'Fix TypeScript strict errors in U-Connect',
          taskDescription: 'Run tsc --noEmit, fix all errors, commit changes',
          inputContext: { repository: 'u-connect', branch: 'main' },
          checkpointData: {},
        },
      };
    };

    test('a task gets one session, with the default command', async () => {
      const body = forTask();
      const [one, two] = [await world.gateway.spawn(body), await world.gateway.spawn(body)];
      expect([one.status, two.status]).toEqual([201, 200]);
      expect(two.body.session?.sessionKey).toBe(one.body.session?.sessionKey);
      expect(one.body.session).toMatchObject({ taskId: body.taskId, runId: null });
      await waitFor('it to run', () => processesWith(seconds).length === 1);
      await world.gateway.ask('DELETE', `/api/sessions/${one.body.session?.id}?graceSeconds=5`);
      await world.untilStatus(one.body.session?.id ?? '', 'STOPPED');
      expect((await world.gateway.spawn(body)).status).toBe(201);
      const keys = world.server.reports.map(({ sessionKey }) => sessionKey);
      expect(keys).not.toContain(one.body.session?.sessionKey);
    });

    const forWorker = (prompt: string) => ({
      sessionLabel: `agent:main:worker-slot-1:${randomUUID()}`,
      channel: 'internal',
      prompt,
      model: 'anthropic/claude-sonnet-4-5',
      thinking: 'low',
      autoStart: true,
    });

    interface Labelled {
      id: string;
      completed: boolean;
      error: string | null;
    }

    /** Interprets the list as the document says. */
    const statusOf = async (label: string) => {
      const { body } = await world.gateway.ask('GET', '/api/sessions');
      const session = (body as unknown as Labelled[]).find((one) => one.id === label);
      if (!session) return 'unknown';
      if (session.completed) return 'complete';
      return session.error ? 'failed' : 'running';
    };

    test.each([
      ['ask to end', 'complete'],
      ['ask to fail', 'failed'],
    ])('a session with a prompt to %s is %s', async (prompt, status) => {
      const body = forWorker(prompt);
      const answer = await world.gateway.ask('POST', '/api/sessions/spawn', body);
      expect(answer.status).toBe(201);
      await waitFor(`it to be ${status}`, async () => {
        return (await statusOf(body.sessionLabel)) === status;
      });
    });

    test('a session is stopped by its label', async () => {
      const body = forWorker('go on');
      expect(await statusOf(body.sessionLabel)).toBe('unknown');
      await world.gateway.ask('POST', '/api/sessions/spawn', body);
      expect(await statusOf(body.sessionLabel)).toBe('running');
      const path = `/api/sessions/${encodeURIComponent(body.sessionLabel)}`;
      expect((await world.gateway.ask('DELETE', path)).status).toBe(202);
      await waitFor('it to end', async () => (await statusOf(body.sessionLabel)) === 'failed');
    });
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
