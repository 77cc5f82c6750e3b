import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { newId } from '#lib/kernel';
import { budgetsAddUp } from '../../../libs/dev/invariants/checks/budgets-add-up.sql.js';
import { Random } from '../chaos/random.js';
import { expectInvariants } from '../harness/verdict.js';
import { type Books, DEEDS, WEIGHTS } from './deeds.js';
import { ask, claim, type Spender, PERIOD, SERVERS, Treasury } from './treasury.js';

const SEED = Number(process.env['DROVER_BUDGETS_SEED'] ?? randomInt(2 ** 31));
const ROUNDS = 30;
const DEEDS_AT_ONCE = 10;
/** A server is killed in one of this number of rounds. */
const KILLED_EVERY = 6;

let treasury: Treasury;

beforeAll(async () => {
  treasury = await Treasury.open();
});
afterAll(() => treasury.close());

/**
 * Checks in one snapshot that nobody has held or moved missing tokens, and that the sums match
 * their parts.
 */
async function expectExactSums(): Promise<void> {
  expect(await treasury.overspending()).toEqual([]);
  const { rows } = await treasury.fleet.db.owner.query(budgetsAddUp.sql.text, [5]);
  expect(rows).toEqual([]);
}

describe('a small budget', () => {
  it('a budget holds at most its tokens when 200 tasks claim it at once over two servers', async () => {
    const [estimatedTokens, fitting] = [1_000, 7];
    const scopeId = await treasury.make('/projects', { name: 'Wanted by many' });
    const allocated = fitting * estimatedTokens + 999;
    const limits = { scope: 'project', scopeId, allocated, ...PERIOD };
    const budget = await treasury.make('/budgets', limits);
    const capability = `only-${newId()}`;
    const task = { title: 'Wanted', taskType: 'race', projectId: scopeId, estimatedTokens };
    const requiredCapabilities = [capability];
    // The claims of one server cannot lock this many at once, so the other server's claims find
    // some as well.
    const tasks = Array.from({ length: 300 }, () => ({ ...task, requiredCapabilities }));
    const key = { 'idempotency-key': newId() };
    await ask(treasury.owner, (server) => server.post('/agent-tasks/batch', { tasks }, key));
    const spenders = await Promise.all(
      Array.from({ length: 10 }, () => treasury.spender(50, [capability])),
    );
    const claims = Array.from({ length: 200 }, (_, n) =>
      claim(spenders[n % spenders.length] as Spender, 1, n % SERVERS),
    );
    const given = await Promise.all(claims);
    // A claim skips tasks that others have locked. The next claim gets those that they leave.
    for (const spender of spenders) given.push(await claim(spender, 50));
    expect(given.flat()).toHaveLength(fitting);
    expect(await treasury.budget(budget)).toMatchObject({
      reserved: String(fitting * estimatedTokens),
      consumed: '0',
      available: '999',
    });
    await expectExactSums();
  });
});

async function openBooks(): Promise<Books> {
  const projectId = await treasury.make('/projects', { name: 'Of the walk' });
  const milestoneId = await treasury.make(`/projects/${projectId}/milestones`, { name: 'Small' });
  const budgets = [
    await treasury.make('/budgets', { scope: 'global', allocated: 30_000, ...PERIOD }),
    await treasury.make('/budgets', {
      scope: 'project',
      scopeId: projectId,
      allocated: 25_000,
      policy: 'finish',
      ...PERIOD,
    }),
    await treasury.make('/budgets', {
      scope: 'milestone',
      scopeId: milestoneId,
      allocated: 6_000,
      policy: 'abort',
      recurrence: { every: 'month', timeZone: 'Europe/Berlin' },
    }),
  ];
  const spenders = await Promise.all(Array.from({ length: 4 }, () => treasury.spender(6)));
  const none = { tasks: [], runs: [], sent: [] };
  return { treasury, spenders, projectId, milestoneId, budgets, ...none };
}

/** Runs some deeds at the same moment, and sometimes kills a server among them. */
async function round(books: Books, random: Random, killed: number | undefined): Promise<void> {
  const deeds = Array.from({ length: DEEDS_AT_ONCE }, (_, n) =>
    DEEDS[random.weighted(WEIGHTS)](books, random.fork(n)),
  );
  if (killed !== undefined) {
    await Promise.race(deeds);
    treasury.kill(killed);
  }
  await Promise.all(deeds);
  await expectExactSums();
}

async function cancelAll({ tasks }: Books): Promise<void> {
  for (let at = 0; at < tasks.length; at += 100) {
    const body = { ids: tasks.slice(at, at + 100) };
    const cancel = { status: 200 };
    expect(
      await ask(treasury.owner, (server) => server.post('/agent-tasks/bulk/cancel', body)),
    ).toMatchObject(cancel);
  }
}

describe(`budgets that are spent at random (DROVER_BUDGETS_SEED=${SEED})`, () => {
  it('budgets spent at random add up after each step, and no hold remains after all runs', async () => {
    const random = new Random(SEED);
    const books = await openBooks();
    for (let n = 1; n <= ROUNDS; n += 1) {
      const killed = n % KILLED_EVERY === 0 ? random.int(0, SERVERS - 1) : undefined;
      await round(books, random, killed);
    }
    // A walk that spends nothing proves nothing.
    expect(books.sent.length).toBeGreaterThan(ROUNDS);
    await cancelAll(books);
    await expectInvariants(treasury.fleet.db);
    const [all] = books.budgets;
    const used = books.sent.reduce((sum, { report: r }) => sum + r.inputTokens + r.outputTokens, 0);
    expect(await treasury.budget(all as string)).toMatchObject({ consumed: String(used) });
    for (const id of books.budgets) {
      expect(await treasury.budget(id)).toMatchObject({ id, reserved: '0' });
    }
  });
});
