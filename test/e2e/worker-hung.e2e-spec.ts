import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkInvariants } from '#lib/invariants';
import { TestFleet } from '../support/fleet.js';
import { nextMark } from '../support/marks.js';
import { waitFor } from '../support/wait-for.js';

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.create({
    env: {
      COORDINATOR_CRON: '* * * * * *',
      HUNG_AFTER_SECONDS: '1',
      HUNG_ABORT_AFTER_SECONDS: '3',
    },
  });
  await fleet.startServer();
});

afterAll(() => fleet.stop());

/** Hangs in its first attempt, and completes its work in the second. */
const HANGS_ONCE = (file: string) => `
  if (process.env.DROVER_ATTEMPT === '1') {
    require('fs').writeFileSync(${JSON.stringify(file)}, process.pid + '\\n');
    setInterval(() => undefined, 1000);
  } else console.log('::drover {"result": {"attempt": 2}}');`;

/** Does nothing until the warning. Then it reports progress and finishes. */
const HEARS = `
  const fs = require('fs');
  const timer = setInterval(() => {
    const text = fs.readFileSync(process.env.DROVER_SIGNALS_FILE, 'utf8');
    if (!text.endsWith('\\n')) return;
    clearInterval(timer);
    const { action, reason } = JSON.parse(text.split('\\n')[0]);
    console.log('::drover ' + JSON.stringify({ result: { action, reason } }));
  }, 20);`;

const overdue = (id: string) =>
  fleet.db.owner.query(`UPDATE agent_tasks SET estimated_completion_at = now() WHERE id = $1`, [
    id,
  ]);

const untilDone = (id: string) =>
  waitFor('the task to be done', async () => {
    const task = await fleet.task(id);
    return task['status'] === 'COMPLETED' && task;
  });

it('a process that listens gets the warning, and can continue', async () => {
  const worker = await fleet.startWorker('listening');
  const id = await fleet.submit(HEARS);
  await waitFor('the run', async () => (await fleet.task(id))['status'] === 'RUNNING');
  await overdue(id);
  expect(await untilDone(id)).toMatchObject({
    retryCount: 0,
    outputResult: { action: 'warn', reason: 'hung' },
  });
  await worker.stop();
});

it('a process hears above 90 % of its budget that the budget is nearly used up', async () => {
  const worker = await fleet.startWorker('thrifty');
  const project = await fleet.api.post<{ id: string }>('/projects', { name: 'Of few tokens' });
  const period = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2999-01-01T00:00:00Z' };
  const budget = { scope: 'project', scopeId: project.body.id, allocated: 100, ...period };
  expect((await fleet.api.post('/budgets', budget)).status).toBe(201);
  const usage = { model: 'claude-sonnet-4', inputTokens: 91, outputTokens: 0 };
  const id = await fleet.submit(`console.log('::drover ${JSON.stringify({ usage })}');${HEARS}`, {
    projectId: project.body.id,
    estimatedTokens: 10,
  });
  expect(await untilDone(id)).toMatchObject({ outputResult: { action: 'warn', reason: 'budget' } });
  await worker.stop();
});

it('a process that hangs is warned, then ended, and the next run completes its task', async () => {
  const worker = await fleet.startWorker('patient');
  const file = join(fleet.folder, 'hung.pid');
  const id = await fleet.submit(HANGS_ONCE(file));
  const [pid] = await nextMark(file);
  await overdue(id);
  expect(await untilDone(id)).toMatchObject({ retryCount: 1, outputResult: { attempt: 2 } });
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  expect(existsSync(`/proc/${worker.pid}`)).toBe(true);

  const { body } = await fleet.api.get<{ items: { event: string; actor: { kind: string } }[] }>(
    `/agent-tasks/${id}/logs?order=asc&limit=100`,
  );
  const warnings = body.items.filter((log) => log.event.startsWith('hung_warning'));
  // The worker reports the warning once, although the signal came again and again.
  expect(warnings.map((log) => `${log.event} ${log.actor.kind}`).sort()).toEqual([
    'hung_warning coordinator',
    'hung_warning_heard agent',
  ]);
  const outcomes = await checkInvariants(fleet.db.ownerUrl);
  expect(outcomes.filter((outcome) => !outcome.holds)).toEqual([]);
});
