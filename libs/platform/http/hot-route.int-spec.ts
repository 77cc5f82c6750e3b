import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, type ExecutionContext, HttpCode, Post, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DroverError } from '#lib/kernel';
import { Text } from './dto/fields.js';
import { Hot, type HotCall, type RouteGuard } from './server/hot-route.js';
import { UuidParam } from './parameters/params.js';
import { startTestServer, type TestServer } from './testing/app.js';
import { Versioned } from './answers/etag.interceptor.js';

class HeartbeatDto {
  @Text({ max: 10 }) status!: string;
}

/** The handler of both routes. */
function answerHeartbeat(id: string, body: HeartbeatDto) {
  if (body.status === 'broken') throw new Error('broken');
  const answer = { id, isDto: body instanceof HeartbeatDto };
  return body.status === 'later' ? Promise.resolve(answer) : answer;
}

@Controller('agents')
class HotController {
  private readonly secret = 'this is bound';

  @Post(':id/heartbeat')
  @Hot({ body: HeartbeatDto, param: 'id', status: 200 })
  heartbeat({ id, body }: HotCall<HeartbeatDto>) {
    return answerHeartbeat(id, body);
  }

  @Post(':id/refuse')
  @Hot({ body: HeartbeatDto, param: 'id' })
  async refuse({ body }: HotCall<HeartbeatDto>) {
    await Promise.resolve();
    throw new DroverError('agent_draining', { detail: body.status });
  }

  @Post('versioned')
  @Versioned()
  @Hot({ body: HeartbeatDto })
  versioned({ caller, id }: HotCall<HeartbeatDto>) {
    return { who: caller.workspaceId, id, version: 7, secret: this.secret };
  }
}

@Controller('agents')
class LongController {
  @Post(':id/heartbeat')
  @HttpCode(200)
  heartbeat(@UuidParam('id') id: string, @Body() body: HeartbeatDto) {
    return answerHeartbeat(id, body);
  }
}

/** Answers at once or later. The real guard does both, depending on its look-ups. */
class TestGuard implements RouteGuard {
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return this.forRoute()(context.switchToHttp().getRequest<FastifyRequest>());
  }

  forRoute() {
    return (request: FastifyRequest): boolean | Promise<boolean> => {
      const mode = request.headers['x-guard'];
      if (mode === 'throws') throw new DroverError('unauthenticated');
      if (mode === 'rejects') return Promise.reject(new DroverError('token_expired'));
      if (mode === 'false') return false;
      Object.assign(request, { caller: { workspaceId: 'mine' } });
      return mode === 'later' ? Promise.resolve(true) : true;
    };
  }
}

const id = '0199f0c4-0000-7000-8000-000000000001';

const cases: [string, number, { headers?: Record<string, string>; body: unknown }][] = [
  ['answers', 200, { body: { status: 'healthy' } }],
  ['answers later', 200, { body: { status: 'later' } }],
  [
    'lets a slow guard answer',
    200,
    { headers: { 'x-guard': 'later' }, body: { status: 'healthy' } },
  ],
  ['is closed when the guard throws', 401, { headers: { 'x-guard': 'throws' }, body: {} }],
  ['is closed when the guard rejects', 401, { headers: { 'x-guard': 'rejects' }, body: {} }],
  ['is closed when the guard says no', 403, { headers: { 'x-guard': 'false' }, body: {} }],
  ['validates the body', 400, { body: { status: 1, more: 2 } }],
  ['answers an error of ours', 500, { body: { status: 'broken' } }],
];

describe('a hot route', () => {
  let short: TestServer;
  let long: TestServer;

  beforeAll(async () => {
    const guard = new TestGuard();
    short = await startTestServer([HotController], {}, { guard });
    long = await startTestServer([LongController], {}, {}, [guard]);
  });

  afterAll(() => Promise.all([short.close(), long.close()]));

  async function ask(server: TestServer, path: string, headers: object, body: unknown) {
    const init = { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${server.url}/api/v1/agents/${path}`, {
      ...init,
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'r',
        ...headers,
      },
    });
    const etag = response.headers.get('etag');
    const answer = (await response.json()) as Record<string, unknown>;
    return { status: response.status, etag, body: answer };
  }

  it.each(cases)(
    'a hot route answers %s with %i, like a normal route',
    async (_, status, request) => {
      const { headers = {}, body } = request;
      const [hot, cold] = await Promise.all(
        [short, long].map((server) => ask(server, `${id}/heartbeat`, headers, body)),
      );
      expect(hot).toEqual(cold);
      expect(hot?.status).toBe(status);
    },
  );

  it('a hot route receives the caller and answers 201 with the ETag of a versioned row', async () => {
    const { status, etag, body } = await ask(short, 'versioned', {}, { status: 'x' });
    expect({ status, etag }).toEqual({ status: 201, etag: '"7"' });
    expect(body).toEqual({ who: 'mine', id: '', version: 7, secret: 'this is bound' });
  });

  it('a hot route needs the guard of all routes and cannot have its own', async () => {
    @Controller()
    @UseGuards(TestGuard)
    class GuardedController {
      @Post()
      @Hot({ body: HeartbeatDto })
      heartbeat() {
        return {};
      }
    }
    await expect(startTestServer([HotController])).rejects.toThrow('needs a guard');
    const start = startTestServer([GuardedController], {}, { guard: new TestGuard() });
    await expect(start).rejects.toThrow('can have no guard of its own');
  });

  it('a hot route answers a late refusal of its handler', async () => {
    const { status, body } = await ask(short, `${id}/refuse`, {}, { status: 'x' });
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: 'agent_draining', detail: 'x' });
  });

  it('a hot route names a malformed id', async () => {
    const { body } = await ask(short, '17/heartbeat', {}, { status: 'healthy' });
    expect(body).toMatchObject({ errors: [{ field: 'id' }] });
  });
});
