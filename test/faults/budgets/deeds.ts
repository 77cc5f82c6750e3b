import { expect } from '@jest/globals';
import type { ApiAnswer, ApiClient } from '../../support/api-client.js';
import type { Random } from '../chaos/random.js';
import {
  ask,
  claim,
  PERIOD,
  type Report,
  type Spender,
  type Spending,
  type Treasury,
} from './treasury.js';

/** The spenders' own knowledge of their actions. */
export interface Books {
  treasury: Treasury;
  spenders: readonly Spender[];
  projectId: string;
  milestoneId: string;
  budgets: string[];
  tasks: string[];
  /** The runs that are live as far as the spenders know. */
  runs: Spending[];
  /** Every report that was sent. */
  sent: { run: Spending; report: Report }[];
}

type Deed = (books: Books, random: Random) => Promise<void>;

const TASKS_AT_MOST = 500;
const ESTIMATE = { least: 500, most: 3_000 };
const USED = { seldom: ESTIMATE.most, mostly: 250 };
const RAISED_BY = 10_000;
/** Budgets for more than one task. */
export const WIDE = 3;
/** The index of the one that recurs. */
export const RECURRING = 2;

async function create({ treasury, tasks, ...scopes }: Books, random: Random): Promise<void> {
  if (tasks.length >= TASKS_AT_MOST) return;
  const { projectId, milestoneId } = scopes;
  const scope = random.pick([{}, { projectId }, { projectId, milestoneId }]);
  const estimatedTokens = random.int(ESTIMATE.least, ESTIMATE.most);
  const task = { title: 'Spends', taskType: 'spending', retryBackoffSeconds: 0, maxRetries: 10 };
  tasks.push(await treasury.make('/agent-tasks', { ...task, ...scope, estimatedTokens }));
}

async function take({ runs, spenders }: Books, random: Random): Promise<void> {
  const spender = random.pick(spenders);
  runs.push(...(await claim(spender, random.int(1, 4), random.int(0, 1))));
}

/** Finds the run that an agent got without receiving the answer. */
async function find({ runs, spenders }: Books, random: Random): Promise<void> {
  const spender = random.pick(spenders);
  const path = `/agents/${spender.id}/tasks?live=true`;
  const answer = await ask(spender.at, (server) => server.get(path));
  const { items } = answer.body as unknown as { items: { id: string; runId: string | null }[] };
  const known = new Set(runs.map(({ runId }) => runId));
  for (const { id, runId } of items) {
    // The run may have ended during the look-up.
    if (runId !== null && !known.has(runId)) runs.push({ taskId: id, runId, spender });
  }
}

function reportsOf(books: Books, run: Spending, random: Random): Report[] {
  return Array.from({ length: random.int(1, 3) }, () => {
    const most = random.chance(0.06) ? USED.seldom : USED.mostly;
    const tokens = { inputTokens: random.int(0, most), outputTokens: random.int(0, 100) };
    const report = { id: `report-${books.sent.length}`, model: 'claude-sonnet-4', ...tokens };
    books.sent.push({ run, report });
    return report;
  });
}

async function send(run: Spending, reports: readonly Report[], random: Random): Promise<void> {
  const path = `/runs/${run.runId}/usage`;
  const answer = await ask(run.spender.at, (at) => at.post(path, { reports }), random.int(0, 1));
  expect(answer).toMatchObject({ status: 200, body: { runId: run.runId } });
}

async function use(books: Books, random: Random): Promise<void> {
  const run = someRun(books, random);
  if (run) await send(run, reportsOf(books, run, random), random);
}

/** Repeats a report as if its answer was lost. */
async function useAgain({ sent }: Books, random: Random): Promise<void> {
  if (sent.length === 0) return;
  const { run, report } = random.pick(sent);
  await send(run, [report], random);
}

/** The run may have ended otherwise. Then its reports are sent separately. */
async function end(books: Books, random: Random, path: string, body: object): Promise<void> {
  const run = someRun(books, random);
  if (!run) return;
  const usage = random.chance(0.5) && path === 'complete' ? reportsOf(books, run, random) : [];
  const request = { ...body, ...(usage.length > 0 && { usage }) };
  const post = (server: ApiClient): Promise<ApiAnswer> =>
    server.post(`/runs/${run.runId}/${path}`, request);
  const { status } = await ask(run.spender.at, post, random.int(0, 1));
  expect([200, 409]).toContain(status);
  if (status === 409 && usage.length > 0) await send(run, usage, random);
  books.runs = books.runs.filter((other) => other !== run);
}

function command(name: string): Deed {
  return async ({ treasury, tasks }, random) => {
    if (tasks.length === 0) return;
    const path = `/agent-tasks/${random.pick(tasks)}/${name}`;
    const { status } = await ask(treasury.owner, (server) => server.post(path, {}));
    expect([200, 409]).toContain(status);
  };
}

/** A run that continues may have used a part of the budget already. */
async function limitTask(books: Books, random: Random): Promise<void> {
  const { treasury, tasks, budgets } = books;
  if (tasks.length === 0) return;
  const body = { scope: 'task', scopeId: random.pick(tasks), allocated: 4_000, ...PERIOD };
  const answer = await ask(treasury.owner, (server) => server.post('/budgets', body));
  expect([201, 409]).toContain(answer.status);
  if (answer.status === 201) budgets.push(String(answer.body['id']));
}

async function reallocate({ treasury, budgets }: Books, random: Random): Promise<void> {
  const [from, to] = random.shuffled(budgets);
  const body = { to, amount: random.int(1, 6_000) };
  const path = `/budgets/${from}/reallocate`;
  const { status } = await ask(treasury.owner, (server) => server.post(path, body));
  expect([200, 409]).toContain(status);
}

async function change(books: Books, id: string, body: object, version: number): Promise<void> {
  const match = { 'if-match': `"${version}"` };
  const patch = (server: ApiClient) => server.patch(`/budgets/${id}`, body, match);
  const { status } = await ask(books.treasury.owner, patch);
  // Another reporter was faster, or this one itself with a lost answer.
  expect([200, 412]).toContain(status);
}

/** Picks the scarcest budget that is not for single tasks, so that the walk continues. */
async function raise(books: Books): Promise<void> {
  const wide = books.budgets.slice(0, WIDE);
  const all = await Promise.all(wide.map((id) => books.treasury.budget(id)));
  const [scarcest] = all.sort((a, b) => Number(a.available) - Number(b.available));
  if (!scarcest) return;
  const { id, allocated, consumed, version } = scarcest;
  const raised = Math.max(Number(allocated), Number(consumed)) + RAISED_BY;
  await change(books, id, { allocated: String(raised) }, version);
}

/** Recounts the period's usage while reports arrive. */
async function changePeriod(books: Books, random: Random): Promise<void> {
  const id = random.pick(books.budgets.filter((_, n) => n !== RECURRING));
  const { version } = await books.treasury.budget(id);
  const periodStart = new Date(Date.UTC(2020, 0, random.int(1, 300))).toISOString();
  await change(books, id, { periodStart }, version);
}

/** The coordinator renews the recurring budget, whatever is held and reported at that moment. */
async function passPeriod({ treasury, budgets }: Books): Promise<void> {
  await treasury.fleet.db.owner.query(
    `UPDATE usage_budgets SET period_end = now(), first_start = now() AT TIME ZONE time_zone,
       due_at = now() WHERE id = $1 AND period_start < now()`,
    [budgets[RECURRING]],
  );
}

/** The coordinator ends the run, whatever its agent reports at that moment. */
async function letLeasePass(books: Books, random: Random): Promise<void> {
  const run = someRun(books, random);
  await books.treasury.fleet.db.owner.query(
    `UPDATE task_runs SET lease_expires_at = now() - interval '1 second' WHERE id = $1`,
    [run?.runId],
  );
}

function someRun({ runs }: Books, random: Random): Spending | undefined {
  return runs.length === 0 ? undefined : random.pick(runs);
}

const FAILURE = { error: { message: 'on purpose', class: 'exit_code', retryable: true } };

export const DEEDS = {
  create,
  take,
  find,
  use,
  useAgain,
  complete: (books, random) => end(books, random, 'complete', {}),
  fail: (books, random) => end(books, random, 'fail', FAILURE),
  release: (books, random) => end(books, random, 'release', {}),
  cancel: command('cancel'),
  pause: command('pause'),
  resume: command('resume'),
  limitTask,
  reallocate,
  raise,
  changePeriod,
  passPeriod,
  letLeasePass,
} as const satisfies Record<string, Deed>;

export const WEIGHTS: Record<keyof typeof DEEDS, number> = {
  create: 30,
  take: 28,
  find: 4,
  use: 26,
  useAgain: 6,
  complete: 4,
  fail: 3,
  release: 2,
  cancel: 2,
  pause: 1,
  resume: 4,
  limitTask: 2,
  reallocate: 8,
  raise: 9,
  changePeriod: 2,
  passPeriod: 6,
  letLeasePass: 3,
};
