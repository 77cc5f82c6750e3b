import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

const DAY_MS = 86_400_000;

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

const iso = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

describe('a recurring budget', () => {
  const every = (length: string, timeZone?: string) => ({
    recurrence: { every: length, ...(timeZone && { timeZone }) },
  });
  const create = (values: object) =>
    workspace.api.post<Record<string, string> & { version: number }>('/budgets', {
      scope: 'global',
      allocated: 100,
      ...values,
    });

  it('the first period is that of the calendar, with its usage so far', async () => {
    await server.db.owner.query(
      `INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, model,
         input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
       VALUES ($1, uuidv7(), 'early', uuidv7(), uuidv7(), 'a model', 7, 0, 0, 0)`,
      [workspace.id],
    );
    const { body } = await create(every('month', 'America/New_York'));
    const local = (iso: unknown) =>
      new Date(String(iso)).toLocaleString('sv', { timeZone: 'America/New_York' });
    expect(body).toMatchObject({ consumed: '7', isActive: true });
    const { periodStart, periodEnd } = body;
    expect([local(periodStart), local(periodEnd)]).toEqual([
      expect.stringMatching(/-01 00:00:00$/),
      expect.stringMatching(/-01 00:00:00$/),
    ]);
    // Nothing else can limit the scope, however late.
    expect(await create({ periodStart: iso(400), periodEnd: iso(401) })).toMatchObject({
      status: 409,
      body: { code: 'budget_period_taken' },
    });
  });

  it.each([
    [every('year'), 'recurrence.every'],
    [every('day', 'Mars/Olympus'), 'recurrence.timeZone'],
    [every('day', '+02:00'), 'recurrence.timeZone'],
    [{ ...every('day'), periodEnd: iso(1) }, 'periodEnd'],
    [{ periodEnd: iso(1) }, 'periodStart'],
    [{ periodStart: iso(1) }, 'periodEnd'],
  ])('is not made of %j', async (values, field) => {
    expect(await create(values)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  });

  it('a budget begins to recur, follows another clock, and ends with its period', async () => {
    const { body: budget } = await create({ periodStart: iso(-1), periodEnd: iso(30) });
    const change = (body: object) => workspace.api.patch(`/budgets/${budget.id}`, body);
    const start = '2026-01-31T10:00:00Z';
    const changed = await change({ ...every('month', 'Asia/Tokyo'), periodStart: start });
    expect(changed).toMatchObject({
      status: 200,
      body: { recurrence: { every: 'month', timeZone: 'Asia/Tokyo', allocated: '100' } },
    });
    expect(String(changed.body['periodEnd'])).toMatch(/T10:00:00.000Z$/);
    expect(await change({ periodEnd: iso(1) })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'periodEnd' }] },
    });
    expect(await change({ recurrence: null })).toMatchObject({
      body: { recurrence: null, periodEnd: changed.body['periodEnd'], version: budget.version + 2 },
    });
    // The coordinator has announced its end, and does not do so again.
    const { owner } = server.db;
    await owner.query('UPDATE usage_budgets SET due_at = NULL WHERE id = $1', [budget.id]);
    expect((await change({ recurrence: null })).status).toBe(200);
    const due = 'SELECT due_at FROM usage_budgets WHERE id = $1';
    expect((await owner.query(due, [budget.id])).rows).toEqual([{ due_at: null }]);
  });

  it.each([
    // The 31st, on the last day of February and on the 31st again.
    ['month', '2026-01-31 00:00', '2026-02-28T12:00Z', '2026-02-27T23:00Z', '2026-03-30T22:00Z'],
    ['month', '2026-01-31 00:00', '2026-04-01T12:00Z', '2026-03-30T22:00Z', '2026-04-29T22:00Z'],
    // Days of 23 and 25 hours.
    ['day', '2026-01-01 00:00', '2026-03-29T10:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
    ['day', '2026-01-01 00:00', '2026-10-25T10:00Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
    // 02:30 does not exist on this day.
    ['day', '2026-01-01 02:30', '2026-03-29T10:00Z', '2026-03-29T01:30Z', '2026-03-30T00:30Z'],
    ['week', '2026-01-05 00:00', '2026-03-29T21:59Z', '2026-03-22T23:00Z', '2026-03-29T22:00Z'],
  ])(
    'of every %s from %s in Berlin, the period of %s begins at %s',
    async (length, first, at, start, end) => {
      const { rows } = await server.db.owner.query<Record<string, Date>>(
        `SELECT * FROM budget_period($1, $2, 'Europe/Berlin', $3)`,
        [first, length, at],
      );
      expect(rows).toEqual([{ period_start: new Date(start), period_end: new Date(end) }]);
    },
  );

  it('each moment has a period, and the periods follow each other without a gap', async () => {
    const { rows } = await server.db.owner.query(`
      SELECT z.name, e.every, f.first, m.moment, p.*, q.*
      FROM (VALUES ('Europe/Berlin'), ('America/New_York'), ('Australia/Lord_Howe'),
        ('Asia/Kathmandu'), ('Asia/Beirut'), ('Pacific/Apia')) AS z (name)
      CROSS JOIN (VALUES ('day'), ('week'), ('month')) AS e (every)
      CROSS JOIN (VALUES (timestamp '2010-01-31 00:00'), ('2010-05-30 02:30')) AS f (first)
      CROSS JOIN generate_series(timestamptz '2011-06-01Z', '2012-06-01Z', interval '83:17') AS m (moment)
      CROSS JOIN LATERAL budget_period(f.first, e.every, z.name, m.moment) p
      CROSS JOIN LATERAL budget_period(f.first, e.every, z.name, p.period_end) q
      WHERE NOT coalesce(p.period_start <= m.moment AND m.moment < p.period_end
        AND q.period_start = p.period_end AND q.period_end > q.period_start, false)
      LIMIT 3`);
    expect(rows).toEqual([]);
  });
});
