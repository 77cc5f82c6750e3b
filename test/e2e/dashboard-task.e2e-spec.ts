import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { createPerson, listAxeFindingsInAllLooks, TestBrowser } from './dashboard/browser.js';

/** The page of a task. */

let fleet: TestFleet;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
  await fleet.startWorker('painter');
  browser = await TestBrowser.start(`http://127.0.0.1:${fleet.port}`);
  page = await browser.openSignedIn(await createPerson(fleet, [fleet.workspaceId]));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
});

afterAll(async () => {
  await browser.stop();
  await fleet.stop();
});

const status = (name: string) => page.locator('.page-head .badge', { hasText: name });
const panel = (name: string) => page.getByRole('region', { name, exact: true });

/** Whether the frame of the graph shows all of its tasks. In one step, because panels can still load. */
const ALL_INSIDE = `(() => {
  const frame = document.querySelector('.react-flow').getBoundingClientRect();
  return [...document.querySelectorAll('.graph-task')].every((task) => {
    const { left, top, right, bottom } = task.getBoundingClientRect();
    const isBetween = left >= frame.left && right <= frame.right;
    return isBetween && top >= frame.top && bottom <= frame.bottom;
  });
})()`;

const HOSTILE = `# A heading

Some **bold** text, [a page](https://example.com/a), [a script](javascript:alert(1)),
[a local one](/api/v1/auth/logout) and ![a picture](https://example.com/tracker.png).

<script>document.title = 'taken'</script><img src=x onerror="document.title='taken'">
<iframe src="https://example.com"></iframe>

<https://example.com/auto>

| a | b |
| - | - |
| 1 | 2 |

- [x] done

\`\`\`diff
-old line
+new line
\`\`\`
`;

describe('the task page', () => {
  it('Markdown is rendered, and nothing in it runs, loads or leads into Drover', async () => {
    const id = await fleet.submit(
      `console.log('::drover ' + JSON.stringify({ result: { report: ${JSON.stringify(HOSTILE)}, count: 3 } }))`,
      { title: 'Writes Markdown', description: HOSTILE },
    );
    await page.goto(`/tasks/${id}`);
    await status('Completed').waitFor();
    for (const name of ['Result', 'Task data']) {
      const text = panel(name).locator('.markdown');
      await text.getByRole('heading', { name: 'A heading' }).waitFor();
      expect(await text.locator('strong').textContent()).toBe('bold');
      const links = await text
        .getByRole('link')
        .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      expect(links).toEqual([
        'https://example.com/a',
        'https://example.com/tracker.png',
        'https://example.com/auto',
      ]);
      expect(await text.locator('img, script, iframe, input, [style], [id]').count()).toBe(0);
      expect(await text.textContent()).toContain('<script>');
      await text.locator('.diff-code-insert', { hasText: 'new line' }).waitFor();
    }
    await panel('Result').getByText('"count": 3').first().waitFor();
    expect(await page.title()).toBe('Writes Markdown · Drover');
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  });

  it('a log shows colours and one run, and is copied and downloaded whole', async () => {
    const id = await fleet.submit(
      `const tried = process.env.DROVER_ARTIFACTS + '/../tried';
       const { retryCount } = JSON.parse(require('fs').readFileSync(process.env.DROVER_INPUT_FILE, 'utf8')).task;
       console.log('\\x1b[31mred ' + retryCount + '\\x1b[0m and \\x1b[1mbold\\x1b[0m');
       console.log('z'.repeat(6000) + 'the end ' + retryCount);
       process.exit(retryCount === 0 ? 1 : 0);`,
      { title: 'Fails once', maxRetries: 1, retryBackoffSeconds: 1 },
    );
    await page.goto(`/tasks/${id}`);
    await status('Completed').waitFor();
    const log = panel('Log');
    const red = log.locator('.ansi-red', { hasText: 'red' });
    await red.nth(1).waitFor();
    expect(await red.allTextContents()).toEqual(['red 0', 'red 1']);
    await log.getByLabel('Run', { exact: true }).selectOption({ label: 'Run 2: Completed' });
    await red.nth(1).waitFor({ state: 'detached' });
    expect(await red.allTextContents()).toEqual(['red 1']);
    await log.getByRole('button', { name: 'Copy' }).click();
    await page.getByText(/lines copied$/).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toMatch(/INFO red 1 and bold\n/);
    expect(copied).not.toContain('red 0');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      log.getByRole('button', { name: 'Download' }).click(),
    ]);
    const text = await readFile(await file.path(), 'utf8');
    expect([file.suggestedFilename(), text.includes('the end 1')]).toEqual([
      `task-${id}.log`,
      true,
    ]);
    expect(text).not.toContain('the end 0');
    const phases = panel('Phases').getByRole('listitem');
    expect((await phases.allTextContents()).map((text) => text.split(' ')[0])).toEqual([
      'Waiting',
      'Running',
    ]);
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  });

  it('the time axis has the time of asking, and the answer is on the page', async () => {
    const id = await fleet.submit(
      `const { task } = JSON.parse(require('fs').readFileSync(process.env.DROVER_INPUT_FILE, 'utf8'));
       const ask = { prompt: 'Which **colour**?', deadlineSeconds: 600, onDeadline: 'fail' };
       if (!task.answers?.length) console.log('::drover ' + JSON.stringify({ ask }));`,
      { title: 'Asks' },
    );
    await page.goto(`/tasks/${id}`);
    await status('Needs answer').waitFor();
    await page.locator('strong', { hasText: 'colour' }).first().waitFor();
    await page.getByLabel('Answer').fill('a `dark` one');
    await page.getByRole('button', { name: 'Send answer' }).click();
    await status('Completed').waitFor();
    await panel('Questions and answers').locator('code', { hasText: 'dark' }).waitFor();
    await panel('Phases').getByText('Asking').waitFor();
  });

  it('the graph of dependencies fits the page, zooms, shows states and links to tasks', async () => {
    const first = await fleet.submit('', { title: 'The first' });
    let before = [first];
    for (const column of ['b', 'c', 'd', 'e', 'f'])
      before = await Promise.all(
        ['1', '2'].map((row) =>
          fleet.submit('process.exit(1)', {
            title: `${column}${row}`,
            taskType: 'nobody',
            requiredCapabilities: ['nobody'],
            dependsOn: before,
          }),
        ),
      );
    const [last] = before;
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`/tasks/${last}`);
    const graph = page.getByRole('group', { name: 'Dependency graph' });
    await graph.getByText('The first').waitFor();
    expect(await graph.locator('.graph-task').count()).toBe(10);
    await graph.locator('.tone-green').waitFor();
    await waitFor('all tasks to be inside', () => page.evaluate<boolean>(ALL_INSIDE));
    const view = graph.locator('.react-flow__viewport');
    const fitted = await view.getAttribute('style');
    await graph.getByRole('button', { name: 'Zoom In' }).click();
    await waitFor('the zoom', async () => (await view.getAttribute('style')) !== fitted);
    await graph.getByRole('button', { name: 'Fit View' }).click();
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    await graph.getByRole('link', { name: 'The first' }).click();
    await page.waitForURL(`**/tasks/*${first}`);
  });

  it('the first digits of an id lead to its task, and digits of several tasks to a choice', async () => {
    await fleet.submit('', { title: 'Of the same digits', taskType: 'nobody' });
    const id = await fleet.submit('', { title: 'By its digits', taskType: 'nobody' });
    await page.goto(`/tasks/${id.slice(0, 32)}`);
    await page.waitForURL(`**/tasks/*${id}`);
    await page.getByRole('heading', { name: 'By its digits' }).waitFor();
    await page.goto(`/tasks/${id.slice(0, 4)}`);
    await page.getByRole('heading', { name: `Several ids begin with ${id.slice(0, 4)}` }).waitFor();
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show all of them' }).click();
    await page.getByRole('button', { name: 'Remove ID filter' }).waitFor();
    await page.getByRole('row').getByRole('link', { name: 'By its digits' }).waitFor();
    await page.goBack();
    const first = page.getByRole('main').getByRole('link').first();
    const chosen = await first.textContent();
    await first.click();
    await page.waitForURL(`**/tasks/*${chosen}`);
  });

  it('a member duplicates a task with changes, and enters its hidden values again', async () => {
    const secrets = { SITE_KEY: 'swordfish-7' };
    const more = { priority: 7, tags: ['one'], secrets, timeoutSeconds: null };
    const id = await fleet.submit('', { title: 'The original', ...more });
    await page.goto(`/tasks/${id}`);
    await page.getByRole('link', { name: 'Duplicate with changes' }).click();
    const title = page.getByLabel('Title', { exact: true });
    expect(await title.inputValue()).toBe('The original');
    expect(await page.getByLabel('Priority').inputValue()).toBe('7');
    await page.getByText('Enter these values again: Secrets SITE_KEY').waitFor();
    expect(await page.getByLabel('Secrets').inputValue()).toBe('');
    await title.fill('The copy');
    await page.getByRole('button', { name: 'Create task' }).click();
    await page.getByRole('heading', { name: 'The copy' }).waitFor();
    const { body } = await fleet.api.get<{ items: object[] }>('/agent-tasks?tags=one');
    const copy = { title: 'The copy', priority: 7, timeoutSeconds: null };
    expect(body.items).toMatchObject([copy, { id }]);
  });

  it('no page logs an error or requests another origin', () => {
    expect(browser.errors).toEqual([]);
  });
});
