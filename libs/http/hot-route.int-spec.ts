import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Body,
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  HttpCode,
  Post,
  Query,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DroverError } from '#lib/kernel';
import { Int, Text } from './dto/fields.js';
import { Hot } from './hot-route.js';
import { UuidParam } from './params.js';
import { startTestServer, type TestServer } from './testing/app.js';

class BeatDto {
  @Text({ max: 10 }) status!: string;
}

class BeatQuery {
  @Int(0, 9, { optional: true }) waitMs?: number;
}

const Who = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<FastifyRequest>().headers['x-who'],
);

@Controller('agents')
class AgentsController {
  private readonly secret = 'this is bound';

  @Post(':id/heartbeat')
  @HttpCode(200)
  @Hot()
  beat(
    @UuidParam('id') id: string,
    @Who() who: string,
    @Body() body: BeatDto,
    @Query() query: BeatQuery,
  ) {
    if (body.status === 'broken') throw new Error('broken');
    const answer = {
      id,
      who,
      isDto: body instanceof BeatDto,
      query: { ...query },
      secret: this.secret,
    };
    return body.status === 'later' ? Promise.resolve(answer) : answer;
  }

  @Post(':id/refuse')
  @Hot()
  async refuse(@Body() body: BeatDto) {
    await Promise.resolve();
    throw new DroverError('agent_draining', { detail: body.status });
  }
}

/** Answers at once, or later: both happen, by what the real guard has to look up. */
class TestGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const mode = context.switchToHttp().getRequest<FastifyRequest>().headers['x-guard'];
    if (mode === 'throws') throw new DroverError('unauthenticated');
    if (mode === 'rejects') return Promise.reject(new DroverError('token_expired'));
    if (mode === 'false') return false;
    return mode === 'later' ? Promise.resolve(true) : true;
  }
}

const id = '0199f0c4-0000-7000-8000-000000000001';

const cases: [
  string,
  number,
  { path?: string; headers?: Record<string, string>; body: unknown },
][] = [
  ['answers', 200, { body: { status: 'healthy' } }],
  ['answers later', 200, { body: { status: 'later' } }],
  ['reads the query', 200, { path: '?waitMs=5', body: { status: 'healthy' } }],
  [
    'lets a slow guard answer',
    200,
    { headers: { 'x-guard': 'later' }, body: { status: 'healthy' } },
  ],
  ['is closed when the guard throws', 401, { headers: { 'x-guard': 'throws' }, body: {} }],
  ['is closed when the guard rejects', 401, { headers: { 'x-guard': 'rejects' }, body: {} }],
  ['is closed when the guard says no', 403, { headers: { 'x-guard': 'false' }, body: {} }],
  ['validates the body', 400, { body: { status: 1, more: 2 } }],
  ['validates the query', 400, { path: '?waitMs=50&x=1', body: { status: 'healthy' } }],
  ['answers an error of ours', 500, { body: { status: 'broken' } }],
];

describe('a hot route', () => {
  let short: TestServer;
  let long: TestServer;

  beforeAll(async () => {
    const guard = new TestGuard();
    short = await startTestServer([AgentsController], {}, { guard });
    long = await startTestServer([AgentsController], {}, {}, [guard]);
  });

  afterAll(() => Promise.all([short.close(), long.close()]));

  async function ask(server: TestServer, path: string, headers: object, body: unknown) {
    const init = { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${server.url}/api/v1/agents/${path}`, {
      ...init,
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'r',
        'x-who': 'me',
        ...headers,
      },
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  it.each(cases)('%s with %i, as the long way does', async (_, status, request) => {
    const { path = '', headers = {}, body } = request;
    const [hot, cold] = await Promise.all(
      [short, long].map((server) => ask(server, `${id}/heartbeat${path}`, headers, body)),
    );
    expect(hot).toEqual(cold);
    expect(hot?.status).toBe(status);
  });

  it('hands its handler what the decorators say', async () => {
    const { body } = await ask(short, `${id}/heartbeat?waitMs=5`, {}, { status: 'healthy' });
    expect(body).toEqual({
      id,
      who: 'me',
      isDto: true,
      query: { waitMs: 5 },
      secret: 'this is bound',
    });
  });

  it('answers what its handler refuses later', async () => {
    const { status, body } = await ask(short, `${id}/refuse`, {}, { status: 'x' });
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: 'agent_draining', detail: 'x' });
  });

  it('names a malformed id', async () => {
    const { body } = await ask(short, '17/heartbeat', {}, { status: 'healthy' });
    expect(body).toMatchObject({ errors: [{ field: 'id' }] });
  });
});
