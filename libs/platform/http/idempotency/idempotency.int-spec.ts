import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, type ExecutionContext, Module, Post } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Database } from '#lib/database';
import { type Caller, DroverError, newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { Text } from '../dto/fields.js';
import { Hot, type HotCall, type RouteGuard } from '../server/hot-route.js';
import { startTestServer, type TestServer } from '../testing/app.js';
import { Versioned } from '../answers/etag.interceptor.js';
import { type IdempotencyRecord, purgeExpiredKeys, storeAnswer } from './answers.js';
import { Idempotency, Idempotent } from './idempotency.interceptor.js';

class ThingDto {
  @Text({ max: 20 }) title!: string;
}

let runs: string[] = [];
/** Resolves the handler's wait when somebody calls `open`. */
let gate: { entered: () => void; open: Promise<void> } | undefined;
let failure: Error | undefined;
/** Opened after each test, so that a failed test leaves no request behind. */
let gates: (() => void)[] = [];

@Controller('things')
class ThingsController {
  constructor(private readonly database: Database) {}

  @Post()
  @Versioned()
  @Idempotent()
  async create(@Body() { title }: ThingDto) {
    runs.push(title);
    gate?.entered();
    await gate?.open;
    if (failure) throw failure;
    return { title, run: runs.length, version: 1 };
  }

  @Post('transactional')
  @Idempotent()
  createAtOnce(
    @Body() { title }: ThingDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ): Promise<unknown> {
    return this.database.tenant(workspaceId).transaction(async (tx) => {
      runs.push(title);
      const body = { title, run: runs.length };
      if (record) await storeAnswer(tx, workspaceId, record, { status: 201, body });
      if (failure) throw failure;
      return body;
    });
  }
}

/** The same as hot routes. */
@Controller('hot-things')
class HotThingsController {
  private readonly things: ThingsController;

  constructor(database: Database) {
    this.things = new ThingsController(database);
  }

  @Post()
  @Versioned()
  @Idempotent()
  @Hot({ body: ThingDto })
  create({ body }: HotCall<ThingDto>) {
    return this.things.create(body);
  }

  @Post('transactional')
  @Idempotent()
  @Hot({ body: ThingDto })
  createAtOnce({ body, idempotency }: HotCall<ThingDto>) {
    return this.things.createAtOnce(body, idempotency);
  }
}

let caller: Caller;

class TestGuard implements RouteGuard {
  canActivate(context: ExecutionContext): boolean {
    return this.forRoute()(context.switchToHttp().getRequest<FastifyRequest>());
  }

  forRoute() {
    return (request: FastifyRequest) => Boolean(Object.assign(request, { caller }));
  }
}

const PATHS = ['/things', '/hot-things'];
let path = '/things';

let db: TestDatabase;
let server: TestServer;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  @Module({ providers: [{ provide: Database, useValue: db.database }], exports: [Database] })
  class TestDatabaseModule {}
  const metadata = { imports: [TestDatabaseModule] };
  server = await startTestServer([ThingsController, HotThingsController], metadata, {
    guard: new TestGuard(),
  });
  workspaceId = await aWorkspace(db.owner);
});

afterAll(async () => {
  await server.close();
  await db.drop();
});

beforeEach(() => {
  runs = [];
  gate = undefined;
  failure = undefined;
  caller = { kind: 'user', workspaceId, userId: newId(), sessionId: newId(), role: 'OWNER' };
});

afterEach(() => {
  for (const open of gates) open();
  gates = [];
});

async function create(key: string | undefined, title = 'a', at = path) {
  const response = await fetch(`${server.url}/api/v1${at}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ title }),
  });
  const { headers, status } = response;
  return { status, headers, body: (await response.json()) as Record<string, unknown> };
}

const age = (key: string, assignment: string) =>
  db.owner.query(`UPDATE idempotency_keys SET ${assignment} WHERE key = $1`, [key]);

async function lockOf(key: string): Promise<{ seconds: number; until: Date }> {
  const { rows } = await db.owner.query<{ seconds: number; until: Date }>(
    `SELECT extract(epoch FROM locked_until - now())::float8 AS seconds, locked_until AS until
       FROM idempotency_keys WHERE key = $1`,
    [key],
  );
  return rows[0] as { seconds: number; until: Date };
}

/** A request whose handler waits after its start until it is opened. */
function waitingRequest(key: string) {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  gates.push(() => open());
  const start = async () => {
    const entered = new Promise<void>((resolve) => (gate = { entered: resolve, open: opened }));
    const answer = create(key);
    await entered;
    gate = undefined;
    // Wrapped, because awaiting the start would otherwise await the answer.
    return { answer };
  };
  return { start, open: () => open() };
}

describe.each(PATHS)('a request with an Idempotency-Key to %s', (of) => {
  beforeEach(() => void (path = of));

  it('a request with a key runs once, and repetitions get its answer and headers', async () => {
    const key = newId();
    const first = await create(key);
    const again = await create(key);
    expect(runs).toEqual(['a']);
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(again.headers.get('etag')).toBe('"1"');
  });

  it('a request without the header runs each time', async () => {
    await create(undefined);
    await create(undefined);
    expect(runs).toHaveLength(2);
  });

  it('a key is refused with another body or from another member', async () => {
    const key = newId();
    await create(key);
    expect((await create(key, 'b')).body.code).toBe('idempotency_key_reused');
    caller = { ...caller, userId: newId() } as Caller;
    expect((await create(key)).status).toBe(422);
    expect(runs).toEqual(['a']);
  });

  it('the same key of another workspace is another key', async () => {
    const key = newId();
    await create(key);
    caller = { ...caller, workspaceId: await aWorkspace(db.owner) };
    expect((await create(key, 'b')).status).toBe(201);
  });

  it('a repetition during the first request is refused until it ends', async () => {
    const key = newId();
    const request = waitingRequest(key);
    const { answer: first } = await request.start();
    const second = await create(key);
    expect(second.status).toBe(409);
    expect(second.body.code).toBe('idempotency_in_progress');
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    request.open();
    expect((await first).status).toBe(201);
    expect((await create(key)).body).toEqual((await first).body);
  });

  it('a running request renews its lock, which ends 10 s after its server', async () => {
    const key = newId();
    const request = waitingRequest(key);
    const { answer } = await request.start();
    const first = await lockOf(key);
    expect(first.seconds).toBeLessThanOrEqual(10);
    await waitFor('a renewal', async () => (await lockOf(key)).until > first.until);
    request.open();
    expect((await answer).status).toBe(201);
  });

  it('one of twenty concurrent requests with a key runs', async () => {
    const key = newId();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(key)));
    expect(runs).toHaveLength(1);
    expect(answers.filter(({ status }) => ![201, 409].includes(status))).toEqual([]);
  });

  it('a request takes the key of a dead owner over and locks it out', async () => {
    const key = newId();
    const request = waitingRequest(key);
    const { answer: slow } = await request.start();
    await age(key, `locked_until = now() - interval '1 second'`);
    const second = await create(key);
    request.open();
    await slow;
    expect(second.body.run).toBe(2);
    expect((await create(key)).body).toEqual(second.body);
  });

  it('an owner that returns after its key was taken over cannot answer', async () => {
    const key = newId();
    const [first, second] = [waitingRequest(key), waitingRequest(key)];
    const { answer: slow } = await first.start();
    await age(key, `locked_until = now() - interval '1 second'`);
    const { answer: other } = await second.start();
    first.open();
    expect((await slow).status).toBe(201);
    expect((await create(key)).body.code).toBe('idempotency_in_progress');
    second.open();
    const { body } = await other;
    expect((await create(key)).body).toEqual(body);
  });

  it('another request cannot take the key over', async () => {
    const key = newId();
    const first = waitingRequest(key);
    const { answer: slow } = await first.start();
    await age(key, `locked_until = now() - interval '1 second'`);
    expect((await create(key, 'b')).body.code).toBe('idempotency_key_reused');
    first.open();
    await slow;
  });

  it('a key expires', async () => {
    const key = newId();
    await create(key);
    await age(key, `expires_at = now() - interval '1 second'`);
    expect((await create(key, 'b')).status).toBe(201);
    await age(key, `expires_at = now() - interval '1 second'`);
    expect(await purgeExpiredKeys(db.database.service, 1_000)).toBe(1);
  });

  it('a final refusal is repeated', async () => {
    const key = newId();
    failure = new DroverError('illegal_transition', {
      detail: 'no',
      members: { current: 'RUNNING' },
    });
    const first = await create(key);
    failure = undefined;
    const again = await create(key);
    expect(again.status).toBe(409);
    expect(again.body).toEqual({ ...first.body, requestId: again.body.requestId });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(runs).toHaveLength(1);
  });

  it.each(['internal_error', 'rate_limited', 'outcome_unknown'] as const)(
    'a request can be repeated at once after %s',
    async (code) => {
      const key = newId();
      failure = new DroverError(code);
      await create(key);
      failure = undefined;
      expect((await create(key)).status).toBe(201);
    },
  );

  it.each(['', ' ', 'a b', 'ü', 'x'.repeat(256)])('the key %j is refused', async (key) => {
    const answer = await create(
      encodeURIComponent(key) === key ? key : Buffer.from(key).toString('latin1'),
    );
    expect(answer.body.code).toBe('malformed_header');
  });
});

describe.each(PATHS)('a service behind %s that stores the answer in its own transaction', (of) => {
  beforeEach(() => void (path = of));

  it('a stored answer is replayed without asking the service', async () => {
    const key = newId();
    const first = await create(key, 'a', `${path}/transactional`);
    expect((await create(key, 'a', `${path}/transactional`)).body).toEqual(first.body);
    expect(runs).toHaveLength(1);
  });

  it('work that was rolled back leaves no answer', async () => {
    const key = newId();
    failure = new Error('after the answer');
    expect((await create(key, 'a', `${path}/transactional`)).status).toBe(500);
    failure = undefined;
    expect((await create(key, 'a', `${path}/transactional`)).body.run).toBe(2);
  });

  it('a service whose key was taken over does not commit', async () => {
    const key = newId();
    await create(key, 'a', `${path}/transactional`);
    const record = {
      key,
      requestHash: Buffer.alloc(32),
      lock: '2020-01-01 00:00:00+00',
      stored: false,
    };
    const late = db.database
      .tenant(workspaceId)
      .transaction((tx) => storeAnswer(tx, workspaceId, record, { status: 201, body: {} }));
    await expect(late).rejects.toMatchObject({ code: 'idempotency_in_progress' });
  });
});
