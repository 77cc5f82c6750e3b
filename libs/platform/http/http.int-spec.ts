import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, HttpException, Param, Patch, Post, Query } from '@nestjs/common';
import fc from 'fast-check';
import { DroverError } from '#lib/kernel';
import { WholeId, Int, JsonObject, NestedList, OneOf, Text, TextList } from './dto/fields.js';
import { PageQuery } from './dto/page-query.js';
import { IfMatch, UuidParam } from './parameters/params.js';
import { startTestServer, type TestServer } from './testing/app.js';
import { Versioned } from './answers/etag.interceptor.js';

class EdgeDto {
  @WholeId() taskId!: string;
}

class ThingDto {
  @Text({ max: 20 }) title!: string;
  @Int(1, 10, { optional: true }) priority?: number;
  @JsonObject({ optional: true }) inputContext?: Record<string, unknown>;
  @NestedList(() => EdgeDto, { maxItems: 3, optional: true }) dependsOn?: EdgeDto[];
}

class ThingQuery extends PageQuery {
  @OneOf(['PENDING', 'RUNNING'], { optional: true }) status?: string;
  @Int(1, 10, { optional: true }) priorityGte?: number;
  @Int(1, 10, { optional: true }) priorityLte?: number;
  @TextList({ maxItems: 5, item: { max: 10 }, optional: true }) tags?: string[];
}

@Controller('things')
class ThingsController {
  @Post()
  create(@Body() body: ThingDto) {
    return { body, isInstance: body instanceof ThingDto, version: 7 };
  }

  @Get()
  list(@Query() query: ThingQuery) {
    return { ...query };
  }

  @Get('failing/:how')
  fail(@Param('how') how: string) {
    if (how === 'unknown') throw new Error('password=hunter2');
    if (how === 'postgres') throw Object.assign(new Error('bad text'), { code: '22021' });
    if (how === 'http') throw new HttpException('teapot', 403);
    throw new DroverError('rate_limited', { retryAfterSeconds: 2.2 });
  }

  @Get(':id')
  @Versioned()
  one(@UuidParam('id') id: string) {
    return { id, version: 3 };
  }

  @Patch(':id')
  patch(@IfMatch() version: number | undefined) {
    return { version: version ?? null };
  }
}

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer([ThingsController]);
});

afterAll(() => server.close());

function send(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${server.url}/api/v1${path}`, init);
}

function post(body: string | Uint8Array, type = 'application/json'): Promise<Response> {
  return send('/things', { method: 'POST', headers: { 'content-type': type }, body });
}

interface Problem {
  code: string;
  errors?: { field: string; message: string }[];
  requestId: string;
  instance: string;
  detail?: string;
}

async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  return (await response.json()) as Problem;
}

it.each(['/things', '/things?limit=no', '/nothing'])(
  'the answer to GET %s is neither stored nor guessed',
  async (path) => {
    const { headers } = await send(path);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  },
);

describe('bodies', () => {
  it('a body arrives as an instance of its class', async () => {
    const response = await post('{"title":"Straße 😀"}');
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ body: { title: 'Straße 😀' }, isInstance: true });
  });

  it.each([
    ['{"title":', 400, 'malformed_json', undefined],
    ['', 400, 'validation_failed', 'title'],
    ['null', 400, 'validation_failed', 'body'],
    ['[]', 400, 'validation_failed', 'body'],
    ['"text"', 400, 'validation_failed', 'body'],
    ['{"title":"a","__proto__":{"priority":1}}', 400, 'validation_failed', '__proto__'],
    ['{"title":"a","\\u005f_proto__":{}}', 400, 'validation_failed', '__proto__'],
    ['{"title":"a","constructor":{"prototype":{}}}', 400, 'validation_failed', 'constructor'],
    ['{"title":"a","toString":1}', 400, 'validation_failed', 'toString'],
    ['{"title":"a\\u0000"}', 400, 'validation_failed', 'title'],
    [
      '{"title":"a","inputContext":{"a":["\\ud800"]}}',
      400,
      'validation_failed',
      'inputContext.a[0]',
    ],
    ['{"title":"a","inputContext":{"n":1e999}}', 400, 'validation_failed', 'inputContext.n'],
    ['{"title":"a","dependsOn":[{"taskId":"x"}]}', 400, 'validation_failed', 'dependsOn[0].taskId'],
    ['{"title":"a","dependsOn":[null]}', 400, 'validation_failed', 'dependsOn[0]'],
    ['{"title":"a","dependsOn":{}}', 400, 'validation_failed', 'dependsOn'],
    [
      '{"title":"a","dependsOn":[{"taskId":"x","b":1}]}',
      400,
      'validation_failed',
      'dependsOn[0].b',
    ],
    ['{"title":"a","priority":1.5}', 400, 'validation_failed', 'priority'],
    ['{"title":"a","priority":"5"}', 400, 'validation_failed', 'priority'],
    ['{"title":"a","priority":null}', 400, 'validation_failed', 'priority'],
    ['{"title":"   "}', 400, 'validation_failed', 'title'],
    [`{"title":"${'x'.repeat(21)}"}`, 400, 'validation_failed', 'title'],
  ])('a body with %s gets %i %s at %s', async (body, status, code, field) => {
    const response = await post(body);
    const problem = await problemOf(response);
    expect(response.status).toBe(status);
    expect(problem.code).toBe(code);
    if (field !== undefined) expect(problem.errors?.map((error) => error.field)).toContain(field);
  });

  it('a body that nests too deep is refused, wherever the depth is', async () => {
    const deep = `{"title":"a","inputContext":{"x":${'['.repeat(100)}${']'.repeat(100)}}}`;
    const problem = await problemOf(await post(deep));
    expect(problem.errors?.[0]).toMatchObject({ message: expect.stringContaining('64 levels') });
  });

  it('a body that is not UTF-8, not JSON by type, or too large is refused', async () => {
    expect((await post(new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
    expect((await problemOf(await post('title=a', 'application/x-www-form-urlencoded'))).code).toBe(
      'unsupported_media_type',
    );
    expect((await problemOf(await post('x', 'text/plain'))).code).toBe('unsupported_media_type');
    const large = JSON.stringify({ title: 'a', inputContext: { x: 'x'.repeat(1_048_576) } });
    expect((await problemOf(await post(large))).code).toBe('payload_too_large');
  });

  it.each([
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, /not compressed/],
    [{ 'content-type': 'application/json', 'content-encoding': 'identity, br' }, /not compressed/],
    [{ 'content-type': 'application/json; charset=utf-16' }, /in UTF-8/],
    [{ 'content-type': 'application/json;v=1 ; Charset = "ISO-8859-1"' }, /in UTF-8/],
    [{ 'content-type': 'application/json; charset=utf-8; charset=utf-7' }, /in UTF-8/],
  ])('a body with the headers %j is refused', async (headers, advice) => {
    const response = await send('/things', { method: 'POST', headers, body: '{"title":"a"}' });
    expect(response.status).toBe(415);
    const problem = await problemOf(response);
    expect(problem.code).toBe('unsupported_media_type');
    expect(problem.detail).toMatch(advice);
  });

  it.each([
    [{ 'content-type': 'application/json; charset=UTF-8' }],
    [{ 'content-type': 'application/json;charset="utf8"', 'content-encoding': 'Identity' }],
  ])('a body with the headers %j is accepted', async (headers) => {
    const response = await send('/things', { method: 'POST', headers, body: '{"title":"a"}' });
    expect(response.status).toBe(201);
  });

  it('a body is optional', async () => {
    const response = await send('/things', { method: 'POST' });
    expect((await problemOf(response)).errors).toEqual([
      { field: 'title', message: 'must be a string of 1 to 20 characters' },
    ]);
  });

  it('no JSON body causes an internal error', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc.json().map((json) => `{"title":${json}}`),
        ),
        async (body) => {
          const { status } = await post(body);
          expect([201, 400]).toContain(status);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('queries', () => {
  it.each([
    ['', { limit: 50 }],
    ['?limit=7&status=RUNNING', { limit: 7, status: 'RUNNING' }],
    ['?priority>=8&priority<=9', { limit: 50, priorityGte: 8, priorityLte: 9 }],
    ['?priority%3E=8', { limit: 50, priorityGte: 8 }],
    ['?priority%3E%3D8', { limit: 50, priorityGte: 8 }],
    ['?priorityGte=8', { limit: 50, priorityGte: 8 }],
    ['?tags=a,b&tags=c', { limit: 50, tags: ['a', 'b', 'c'] }],
  ])('the query %s is parsed', async (query, expected) => {
    expect(await (await send(`/things${query}`)).json()).toEqual(expected);
  });

  it.each([
    ['?limit=0', 'limit'],
    ['?limit=201', 'limit'],
    ['?limit=1e1', 'limit'],
    ['?limit=', 'limit'],
    ['?limit=1&limit=2', 'limit'],
    ['?status=RUNNING&status=PENDING', 'status'],
    ['?status=running', 'status'],
    ['?nonsense=1', 'nonsense'],
    ['?priority>8', 'priority>8'],
    ['?priority>=8&priorityGte=7', 'priorityGte'],
    ['?priority>=x', 'priorityGte'],
    ['?__proto__=1', '__proto__'],
    ['?constructor=1', 'constructor'],
    ['?tags=%00', 'tags'],
    ['?cursor=%00', 'cursor'],
  ])('the query %s is refused at %s', async (query, field) => {
    const response = await send(`/things${query}`);
    expect(response.status).toBe(400);
    expect((await problemOf(response)).errors?.map((error) => error.field)).toEqual([field]);
  });
});

describe('paths and headers', () => {
  const id = '0199f0c4-0000-7000-8000-000000000001';

  it('a malformed id in a path is named', async () => {
    expect((await problemOf(await send('/things/%00'))).errors?.[0]?.field).toBe('id');
    expect((await problemOf(await send('/things/17'))).errors?.[0]?.field).toBe('id');
    expect((await send('/things/%zz')).status).toBe(400);
  });

  it('a missing path gets 404 and a missing method 405', async () => {
    expect((await problemOf(await send('/nothing'))).code).toBe('route_not_found');
    const response = await send(`/things/${id}`, { method: 'PUT' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, PATCH');
  });

  it('a version travels in ETag and If-Match', async () => {
    expect((await send(`/things/${id}`)).headers.get('etag')).toBe('"3"');
    const patch = (value: string) =>
      send(`/things/${id}`, { method: 'PATCH', headers: { 'if-match': value } });
    expect(await (await patch('"3"')).json()).toEqual({ version: 3 });
    expect((await problemOf(await patch('"abc"'))).code).toBe('malformed_header');
  });

  it('a valid request id is repeated and an invalid one replaced', async () => {
    const ask = (value: string) => send('/things', { headers: { 'x-request-id': value } });
    expect((await ask('client-1')).headers.get('x-request-id')).toBe('client-1');
    expect((await ask('x'.repeat(129))).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('errors', () => {
  it('internal errors are logged with their stack and not shown to clients', async () => {
    const response = await send('/things/failing/unknown?secret=1');
    const problem = await problemOf(response);
    expect(response.status).toBe(500);
    expect(problem).toMatchObject({
      code: 'internal_error',
      instance: '/api/v1/things/failing/unknown',
    });
    expect(JSON.stringify(problem)).not.toContain('hunter2');
    const line = server.lines.find((entry) => entry.requestId === problem.requestId);
    expect(line).toMatchObject({
      level: 'error',
      error: { stack: expect.stringContaining('http.int-spec') },
    });
  });

  it.each([
    ['postgres', 400, 'validation_failed'],
    ['http', 403, 'forbidden'],
    ['limited', 429, 'rate_limited'],
  ])('errors of kind %s are %i %s', async (how, status, code) => {
    const response = await send(`/things/failing/${how}`);
    expect(response.status).toBe(status);
    const problem = await problemOf(response);
    expect(problem.code).toBe(code);
    // Whoever has the id can ask for its line.
    const line = server.lines.find((entry) => entry.requestId === problem.requestId);
    expect(line).toMatchObject({ level: 'info', message: 'request refused', status, code });
    expect(response.headers.get('retry-after')).toBe(status === 429 ? '3' : null);
  });
});
