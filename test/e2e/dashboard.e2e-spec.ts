import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page, Route } from 'playwright-core';
import { projectRoot } from '#lib/kernel';
import { aWorkspace } from '../support/factories.js';
import { TestFleet } from '../support/fleet.js';
import { nextMark } from '../support/marks.js';
import type { BuiltProcess } from '../support/processes.js';
import {
  createPerson,
  listAxeFindingsInAllLooks,
  type Person,
  signIn,
  TestBrowser,
} from './dashboard/browser.js';

let fleet: TestFleet;
let server: BuiltProcess;
let browser: TestBrowser;
let owner: Person;
/** The owner's session, signed in once, because sign-ins of a person are limited per minute. */
let page: Page;
let address: string;
/** Workers of the current test. They stop before the next test. */
let workers: BuiltProcess[] = [];

beforeAll(async () => {
  fleet = await TestFleet.create();
  server = await fleet.startServer();
  address = `http://127.0.0.1:${fleet.port}`;
  browser = await TestBrowser.start(address);
  owner = await createPerson(fleet, [fleet.workspaceId]);
  page = await browser.openSignedIn(owner);
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
});

afterAll(async () => {
  await browser.stop();
  await fleet.stop();
});

async function startWorker(name: string): Promise<BuiltProcess> {
  const worker = await fleet.startWorker(name);
  workers.push(worker);
  return worker;
}

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor();
/** Opens a page, and waits for all of its requests. */
const openAt = async (page: Page, path: string) => {
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
};
const status = (page: Page, name: string) => page.locator('.page-head .badge', { hasText: name });

/** The paths of all pages without an ID, read from the router, and a path without a page. */
const PATHS = [
  ...[
    ...readFileSync(join(projectRoot, 'apps/dashboard/router.tsx'), 'utf8').matchAll(
      /path: '([^'$]+)'/g,
    ),
  ].map(([, path]) => path as string),
  '/tasks/a/b',
];

describe('the dashboard', () => {
  it('a browser gets the page under a strict policy, other clients get a sentence', async () => {
    const asBrowser = { headers: { accept: 'text/html,*/*' } };
    const page = await fetch(address, asBrowser);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain('unsafe');
    const html = await page.text();
    const deep = await fetch(`${address}/tasks/${fleet.workspaceId}`, asBrowser);
    expect(await deep.text()).toBe(html);
    for (const path of PATHS) expect((await fetch(address + path, asBrowser)).status).toBe(200);
    const nowhere = await fetch(`${address}/nowhere`, asBrowser);
    expect([nowhere.status, await nowhere.text()]).toEqual([404, html]);
    for (const [path, options] of [
      ['/nowhere', {}],
      ['/api/v1/nowhere', asBrowser],
    ] as const)
      expect((await fetch(address + path, options)).headers.get('content-type')).toMatch(/problem/);
    const script = /src="(\/assets\/[^"]+)"/.exec(html)?.[1] as string;
    const asset = await fetch(address + script, { headers: { 'accept-encoding': 'br' } });
    expect(asset.headers.get('cache-control')).toContain('immutable');
    expect(asset.headers.get('content-encoding')).toBe('br');
    expect((await fetch(`${address}/assets/..%2findex.html`)).status).toBe(404);
    expect(await (await fetch(address)).text()).toContain('This is a server of Drover');
  });

  it('a member signs in, creates a task and archives it by clicks alone', async () => {
    await startWorker('clicked');
    const page = await browser.openSignedIn(owner);
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await page.getByRole('link', { name: 'Create task' }).click();
    await page.getByLabel('Title', { exact: true }).fill('Say hello');
    await page.locator('[name=command]').fill('echo hello from the command');
    await page.getByRole('button', { name: 'Create task' }).click();
    await heading(page, 'Say hello');
    await status(page, 'Completed').waitFor();
    await page.getByText('hello from the command', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel task' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Archive' }).click();
    await status(page, 'Archived').waitFor();
    await page.reload();
    await status(page, 'Archived').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  it('a task that is created during a request for new tasks is counted', async () => {
    const first = await fleet.submit('', { title: 'Of the second kind', taskType: 'second' });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const hold = async (route: Route) => {
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    };
    const isHead = ({ searchParams: asked }: URL) =>
      asked.get('taskType') === 'second' && asked.get('limit') === '20';
    await page.route(isHead, hold, { times: 1 });
    await page.goto('/tasks?taskType=second');
    const row = page.getByRole('row').filter({ hasText: 'Of the second kind' });
    await row.getByText('Pending').waitFor();
    await fleet.submit('', { title: 'Another', taskType: 'second' });
    await fleet.api.post(`/agent-tasks/${first}/cancel`, {});
    await row.getByText('Cancelled').waitFor();
    // The page collects changes for 400 ms.
    await delay(1_000);
    release();
    await page.getByRole('button', { name: 'Show 1 new task' }).waitFor();
  });

  it('the task list filters by its address and updates new tasks and statuses live', async () => {
    await fleet.submit('', { title: 'Of the first kind', taskType: 'first' });
    await page.goto('/tasks?taskType=first');
    await page.getByRole('link', { name: 'Of the first kind' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    const id = await fleet.submit('', { title: 'Another', taskType: 'first' });
    await page.getByRole('button', { name: 'Show 1 new task' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Another' });
    await row.getByText('Pending').waitFor();
    await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
    await row.getByText('Cancelled').waitFor();
    await page.getByRole('button', { name: 'Cancelled' }).click();
    await page.waitForURL('**/tasks?taskType=first&status=CANCELLED');
    await page.getByRole('link', { name: 'Of the first kind' }).waitFor({ state: 'detached' });
  });

  it('the task list of a workspace omits tasks of other workspaces', async () => {
    const other = await aWorkspace(fleet.db.owner);
    await fleet.db.owner.query("UPDATE workspaces SET name = 'The other one' WHERE id = $1", [
      other,
    ]);
    const person = await createPerson(fleet, [fleet.workspaceId, other]);
    const id = await fleet.submit('', { title: 'Of one tenant' });
    const page = await browser.openSignedIn(person);
    await page.getByLabel('Workspace').selectOption({ label: 'A workspace' });
    await page.goto('/tasks');
    await page.getByRole('link', { name: 'Of one tenant' }).waitFor();
    await page.getByLabel('Workspace').selectOption({ label: 'The other one' });
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await page.getByRole('heading', { name: 'No tasks yet' }).waitFor();
    await page.goto(`/tasks/${id}`);
    await heading(page, 'Task not found');
    await page.context().close();
  });

  it('hostile text is rendered as plain text', async () => {
    await startWorker('hostile');
    const title = '<img src=x onerror="document.title=1"> \u202egnp.exe שלום';
    const id = await fleet.submit(
      `console.log('<script>alert(1)</script>');
       console.log('\\x1b[31mred\\x1b[0m and green');
       console.log('y'.repeat(1_000_000));
       console.log('::drover ' + JSON.stringify({ result: { html: '<b onclick="alert(1)">bold</b>' } }));`,
      { title, description: '<iframe src="https://example.com">\u001b[31mred\u001b[0m' },
    );
    await page.goto(`/tasks/${id}`);
    await status(page, 'Completed').waitFor();
    const search = page.getByLabel('Search log');
    for (const text of ['<script>alert(1)</script>', 'red and green']) {
      await search.fill(text);
      await page.getByRole('listitem').getByText(text, { exact: true }).waitFor();
    }
    await page.getByText('<iframe src="https://example.com">red', { exact: true }).waitFor();
    await search.fill('yyyy');
    await page.getByText('more characters').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      '<img src=x onerror="document.title=1"> gnp.exe שלום',
    );
    expect(await page.locator('main img, main iframe, main script, main b').count()).toBe(0);
    const widths = await page.evaluate('[document.body.scrollWidth, innerWidth]');
    expect((widths as number[])[0]).toBeLessThanOrEqual((widths as number[])[1] as number);
  });

  it('a page reports an outage and recovers when the server is back', async () => {
    const id = await fleet.submit('', { title: 'Outlives a restart' });
    await page.goto(`/tasks/${id}`);
    await status(page, 'Pending').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    server.kill('SIGKILL');
    await server.ended();
    const away = page.getByText("Couldn't reach the server. This data may be out of date.");
    await away.waitFor();
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByRole('heading', { name: 'Schedules' }).waitFor();
    await page.goBack();
    server = await fleet.startServer();
    await away.waitFor({ state: 'detached' });
    await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
    await status(page, 'Cancelled').waitFor();
  });

  it('a task page shows the second run after a worker is killed', async () => {
    const first = await startWorker('killed');
    const file = join(fleet.folder, 'killed.pid');
    const id = await fleet.submit(
      `require('fs').writeFileSync(${JSON.stringify(file)}, process.pid + ' 0\\n');
       setInterval(() => console.log('::drover {"checkpoint": {"at": 1}}'), 100);`,
      { title: 'Survives its worker' },
    );
    const [pid] = (await nextMark(file)) as [number];
    await page.goto(`/tasks/${id}`);
    await status(page, 'Running').waitFor();
    await startWorker('heir');
    first.kill('SIGKILL');
    await nextMark(file, pid);
    const runs = page.getByRole('region', { name: 'Runs' }).getByRole('listitem');
    await runs.nth(1).getByText('Working').waitFor();
    await runs.nth(0).getByText('Failed', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel task' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('seen enough');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel task' }).click();
    await status(page, 'Cancelled').waitFor();
  });

  it('a task page lists the files of its runs, and a browser downloads them', async () => {
    await startWorker('files');
    const id = await fleet.submit(
      `require('fs').writeFileSync(process.env.DROVER_ARTIFACTS + '/a.html', '<script>alert(1)</script>')`,
      { title: 'Keeps a file' },
    );
    await page.goto(`/tasks/${id}`);
    await status(page, 'Completed').waitFor();
    const files = page.getByRole('region', { name: 'Artifacts' });
    await files.getByText('25 bytes').waitFor();
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    const downloading = page.waitForEvent('download');
    await files.getByRole('link', { name: 'a.html' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('a.html');
    expect(readFileSync(await download.path(), 'utf8')).toBe('<script>alert(1)</script>');
  });

  it('a user with an expired session signs in again and returns to the page', async () => {
    const person = await createPerson(fleet, [fleet.workspaceId], 'ADMIN');
    const page = await browser.openSignedIn(person);
    await page.goto('/agents');
    await heading(page, 'Agents');
    await fleet.db.owner.query(
      'UPDATE user_sessions SET revoked_at = now() WHERE revoked_at IS NULL AND user_id = (SELECT id FROM users WHERE email = $1)',
      [person.email],
    );
    await page.reload();
    await page.getByText('Your session expired. Sign in again.').waitFor();
    await signIn(page, person);
    await heading(page, 'Agents');
    await page.context().close();
  });

  it('the dependency graph includes indirect dependencies and links to them', async () => {
    const first = await fleet.submit('', { title: 'The first' });
    const sides = await Promise.all(
      ['left', 'right'].map((title) => fleet.submit('', { title, dependsOn: [first] })),
    );
    const last = await fleet.submit('', { title: 'The last', dependsOn: sides });
    await page.goto(`/tasks/${last}`);
    const graph = page.getByRole('group', { name: 'Dependency graph' });
    await graph.getByText('The first').waitFor();
    await graph.locator('.react-flow__edge').nth(3).waitFor();
    expect(await graph.locator('.graph-task').count()).toBe(4);
    await graph.getByRole('link', { name: 'The first' }).click();
    await page.waitForURL(`**/tasks/the-first-${first}`);
  });

  it('a viewer sees no actions', async () => {
    const viewer = await createPerson(fleet, [fleet.workspaceId], 'VIEWER');
    const id = await fleet.submit('', { title: 'Only to look at' });
    const page = await browser.openSignedIn(viewer);
    expect(await page.getByRole('link', { name: 'Create task' }).count()).toBe(0);
    await page.goto(`/tasks/${id}`);
    await status(page, 'Pending').waitFor();
    expect(await page.locator('.page-head button').count()).toBe(0);
    await page.context().close();
  });

  it('the keyboard moves through the task list and opens a task', async () => {
    for (const title of ['One to pass over', 'One to open']) await fleet.submit('', { title });
    await page.goto('/tasks');
    await page.getByRole('row').nth(2).waitFor();
    await page.getByRole('row').nth(1).getByRole('link').focus();
    await page.keyboard.press('ArrowDown');
    const second = page.getByRole('row').nth(2).getByRole('link');
    const title = await second.textContent();
    await expect(
      second.evaluate((link) => link === link.ownerDocument.activeElement),
    ).resolves.toBe(true);
    await page.keyboard.press('Enter');
    await heading(page, title as string);
  });

  it('a list of 100,000 tasks renders visible rows only and loads more at its end', async () => {
    const workspaceId = await aWorkspace(fleet.db.owner);
    const person = await createPerson(fleet, [workspaceId], 'MEMBER');
    await fleet.db.owner.query(
      `INSERT INTO agent_tasks
         (workspace_id, id, title, task_type, status, priority, completed_at, started_at)
       SELECT $1, uuidv7(), 'Task ' || n, 'test', 'COMPLETED', 3, now(), now()
       FROM generate_series(1, 100000) AS n`,
      [workspaceId],
    );
    // Autovacuum would do so later. Until then plans are made for an empty table.
    await fleet.db.owner.query('ANALYZE agent_tasks');
    const page = await browser.openSignedIn(person);
    await page.goto('/tasks');
    await page.getByText('200+ shown').waitFor();
    await page.getByRole('row').nth(1).getByRole('link').focus();
    for (const last of [201, 401, 601, 801]) {
      await page.keyboard.press('End');
      await page.locator(`[aria-rowindex="${last}"] a:focus`).waitFor();
      await page.getByText(`${(last + 199).toLocaleString('en')}+ shown`).waitFor();
      expect(await page.getByRole('row').count()).toBeLessThan(80);
    }
    await page.context().close();
  });

  describe('axe in every theme and width', () => {
    it('the sign-in page passes axe', async () => {
      const fresh = await browser.open();
      await fresh.goto('/');
      await fresh.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await listAxeFindingsInAllLooks(fresh)).toEqual([]);
      await fresh.context().close();
    });

    it.each(PATHS)('the page %s passes axe', async (path) => {
      await openAt(page, path);
      expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    });

    it('a task page passes axe', async () => {
      const id = await fleet.submit('', { title: 'Looked at' });
      await fleet.submit('', { title: 'Behind it', dependsOn: [id] });
      await openAt(page, `/tasks/${id}`);
      expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    });

    it('a webhook page passes axe', async () => {
      const { body } = await fleet.api.post<{ id: string }>('/webhooks', {
        url: 'https://example.com/hook',
        events: ['task.created'],
      });
      await openAt(page, `/webhooks/${body.id}`);
      expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    });

    it('a dialog passes axe', async () => {
      await page.goto('/settings');
      await page.getByRole('button', { name: 'Create API key', exact: true }).click();
      await page.locator('dialog[open]').getByLabel('Name').waitFor();
      expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    });
  });

  it('the API reference loads only scripts of the server', async () => {
    const page = await browser.open();
    const answer = await page.goto('/docs');
    const policy = answer?.headers()['content-security-policy'];
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    await page.locator('[data-path="/api/v1/auth/login"]').waitFor();
    await page.context().close();
  });

  it('no page logs an error or requests another origin', () => {
    expect(browser.errors).toEqual([]);
  });
});
