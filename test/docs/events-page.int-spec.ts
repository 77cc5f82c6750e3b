import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { freePort } from '#lib/local-servers';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { chromiumOptions } from '../../tools/shared/chromium.js';
import { followStream } from '../support/event-stream.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { readPage } from './page.js';

/** Joins the page of examples/events and the browser lines of docs/events.md. */

const TASK = { title: 'A task', taskType: 'test' };
const [email, password] = [`page-${newId()}@example.test`, newId()];

const options = await chromiumOptions().catch(() => undefined);
const withBrowser = options ? describe : describe.skip;

let fleet: TestFleet;
let server: BuiltProcess;
let browser: Browser;
let serving: ChildProcess;
let address: string;

beforeAll(async () => {
  if (!options) return;
  fleet = await TestFleet.create({ env: { ROLES: 'api' } });
  server = await fleet.startServer();
  await fleet.db.owner.query('UPDATE users SET is_operator = true');
  const user = await fleet.api.post<{ id: string }>('/users', { email, name: 'Ada', password });
  await fleet.db.owner.query(
    `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'MEMBER')`,
    [fleet.workspaceId, user.body.id],
  );
  const port = String(await freePort());
  const script = join(import.meta.dirname, '../../examples/events/serve.mjs');
  const env = { ...process.env, DROVER_URL: `http://127.0.0.1:${fleet.port}`, PORT: port };
  serving = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(serving.stdout as NonNullable<typeof serving.stdout>, 'data');
  address = String(said).trim();
  browser = await chromium.launch(options);
}, 300_000);

afterAll(async () => {
  await browser?.close();
  serving?.kill();
  await fleet?.stop();
});

async function addTask(port = fleet.port): Promise<void> {
  const api = apiClient(`http://127.0.0.1:${port}`, fleet.credentials);
  expect((await api.post('/agent-tasks', TASK)).status).toBe(201);
}

/** Returns the events on the page, oldest first, once there are `count` of them. */
async function shown(page: Page, count: number): Promise<unknown[]> {
  await page
    .locator('#events li')
    .nth(count - 1)
    .waitFor({ timeout: 60_000 });
  const lines = await page.locator('#events li').allTextContents();
  return lines.reverse().map((line) => (JSON.parse(line) as { id: string }).id);
}

/** Returns the ids of all events of the workspace that the page follows. */
async function happened(count: number): Promise<string[]> {
  const query = 'types=task.created,task.status_changed&lastEventId=0';
  const url = `http://127.0.0.1:${fleet.port}/api/v1/events?${query}`;
  const stream = await followStream(url, fleet.credentials);
  const events = await stream.atLeast(count);
  stream.close();
  return events.map(({ id }) => id);
}

withBrowser('A page in a browser', () => {
  it('the page shows each event once, also after a restart and after the end of its ticket', async () => {
    const page = await browser.newPage();
    await page.goto(address);
    await page.fill('[name=email]', email);
    await page.fill('[name=password]', password);
    await page.click('button');
    await page.getByText('Following').waitFor();
    await addTask();
    await shown(page, 1);

    const other = await freePort();
    await fleet.startServer({ PORT: String(other) });
    await server.stop();
    for (let n = 0; n < 3; n++) await addTask(other);
    server = await fleet.startServer();
    await shown(page, 4);

    // Simulates a ticket that is too old for the browser's own attempt.
    let refused = 0;
    await page.route('**/api/v1/events?*', (route) =>
      refused++ === 0 ? route.fulfill({ status: 401 }) : route.continue(),
    );
    await server.stop();
    await addTask(other);
    await fleet.startServer();
    await addTask();
    expect(await shown(page, 6)).toEqual(await happened(6));
    expect(refused).toBe(2);
  });

  it('the lines of docs/events.md follow events in a page', async () => {
    const [, lines = ''] = /```js\n([^]*?)```/.exec(readPage('events.md')) ?? [];
    const signedIn = await fleet.api.post<{ accessToken: string }>('/auth/login', {
      email,
      password,
    });
    const { accessToken } = signedIn.body;
    const page = await browser.newPage();
    await page.goto(address);
    const logged = page.waitForEvent('console', { timeout: 60_000 });
    const program = `(async () => { ${lines}
    await new Promise((resolve) => (source.onopen = resolve)); })()`;
    const given = { accessToken, workspace: fleet.workspaceId };
    await page.evaluate((values) => void Object.assign(globalThis, values), given);
    await page.evaluate(program);
    const { body } = await fleet.api.post<{ id: string }>('/agent-tasks', TASK);
    await fleet.api.post(`/agent-tasks/${body.id}/cancel`);
    const [event] = (await logged).args();
    expect(await event?.jsonValue()).toMatchObject({ taskId: body.id, newStatus: 'ABORTED' });
  });
});
