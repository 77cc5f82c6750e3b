import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { TestFleet } from '../support/fleet.js';
import { createPerson, listAxeFindingsInAllLooks, TestBrowser } from './dashboard/browser.js';

/** Reviews of changes in the dashboard. A client of the API plays the host. */

const HEAD = '1'.repeat(40);
const DIFF = `diff --git a/src/date.ts b/src/date.ts
index 1111111..2222222 100644
--- a/src/date.ts
+++ b/src/date.ts
@@ -1,3 +1,4 @@
 export function parse(text: string): Date {
-  return new Date(text);
+  // ISO weeks, such as 2026-W48.
+  return parseWeek(text) ?? new Date(text);
 }
diff --git a/docs/weeks.md b/docs/weeks.md
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/docs/weeks.md
@@ -0,0 +1 @@
+# Weeks
`;

let fleet: TestFleet;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
  browser = await TestBrowser.start(`http://127.0.0.1:${fleet.port}`);
  page = await browser.openSignedIn(await createPerson(fleet, [fleet.workspaceId]));
});
afterAll(async () => {
  await browser.stop();
  await fleet.stop();
});

const change = async (id: string) =>
  (await fleet.api.get<Record<string, unknown>>(`/changes/${id}`)).body;

/** A change that waits for a review. */
async function aChange(title: string): Promise<string> {
  const url = 'https://example.com/shop.git';
  const repository = { name: `shop-${newId().slice(-6)}`, url };
  const { id: repositoryId } = (await fleet.api.post<{ id: string }>('/repositories', repository))
    .body;
  const agentId = newId();
  await fleet.api.put(`/agents/${agentId}`, { name: agentId, capabilities: ['git'] });
  const { body } = await fleet.api.post<{ token: string }>(`/agents/${agentId}/token`);
  const authorization = `Bearer ${body.token}`;
  const host = apiClient(`http://127.0.0.1:${fleet.port}`, { authorization });
  const wanted = { title, taskType: 'test', agentId, repositoryId };
  const { id } = (await fleet.api.post<{ id: string }>('/agent-tasks', wanted)).body;
  const claim = await host.post<{ tasks: { run: { id: string } }[] }>(`/agents/${agentId}/claim`, {
    waitMs: 10_000,
  });
  const runId = String(claim.body.tasks[0]?.run.id);
  await host.post(`/runs/${runId}/repository`, {});
  const address = `http://127.0.0.1:${fleet.port}/api/v1/runs/${runId}/artifacts/change.diff`;
  const headers = { authorization, 'content-type': 'text/x-diff' };
  expect((await fetch(address, { method: 'PUT', headers, body: DIFF })).ok).toBe(true);
  const size = { filesChanged: 2, insertions: 3, deletions: 1 };
  const submission = {
    baseCommit: '0'.repeat(40),
    headCommit: HEAD,
    ...size,
    summary: 'It parses.',
  };
  await host.post(`/runs/${runId}/submit`, submission);
  const { generation } = (
    await host.post<{ step: { generation: number } }>('/change-steps/claim', { waitSeconds: 10 })
  ).body.step;
  const proof = { generation, outcome: 'green', commit: HEAD, exitCode: 0, durationMs: 900 };
  const proven = await host.post(`/change-steps/${id}/report`, proof);
  expect(proven.status).toBe(200);
  expect(await change(id)).toMatchObject({ state: 'IN_REVIEW' });
  return id;
}

it('a reviewer reads the diff, comments on a line and requests changes by keyboard', async () => {
  const id = await aChange('Accept ISO weeks');
  await page.goto('/reviews');
  await page.getByRole('link', { name: 'Accept ISO weeks' }).click();
  const file = page.getByRole('region', { name: 'src/date.ts' });
  await file.getByText('// ISO weeks, such as 2026-W48.').waitFor();
  await page.getByText('# Weeks').waitFor();
  await page.keyboard.press('v');
  await page.locator('.diff-split').first().waitFor();
  await page.keyboard.press('v');
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await file.locator('td[data-change-key="I2"].diff-gutter').last().click();
  await file.getByRole('textbox', { name: 'Comment' }).fill('Test a year without week 53.');
  await page.getByRole('button', { name: 'Add comment' }).click();
  await page.getByText('Test a year without week 53.').waitFor();
  await page.keyboard.press('r');
  await page.getByLabel('What the agent must change').fill('More tests, please.');
  await page.getByRole('button', { name: 'Send to the agent' }).click();
  await page.locator('.page-head .badge', { hasText: 'Working' }).waitFor();
  expect(await change(id)).toMatchObject({
    state: 'WORKING',
    reviews: [
      { kind: 'proof' },
      {
        verdict: 'changes_requested',
        body: 'More tests, please.',
        comments: [{ path: 'src/date.ts', line: 2, text: 'Test a year without week 53.' }],
      },
    ],
  });
});

it('a reviewer approves what the page shows', async () => {
  const id = await aChange('Approved at once');
  await page.goto(`/reviews/${id}`);
  await page.getByText('It parses.').waitFor();
  await page.keyboard.press('a');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await page.locator('.page-head .badge', { hasText: 'Approved' }).waitFor();
  expect(await change(id)).toMatchObject({ state: 'APPROVED', headCommit: HEAD });
});

it('a repository is added, and its page shows its changes', async () => {
  await page.goto('/repositories');
  await page.getByRole('button', { name: 'Add repository' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('garden');
  await dialog.getByLabel('URL').fill('ext::sh -c id');
  await dialog.getByRole('button', { name: 'Add repository' }).click();
  await dialog.getByText('url: must').waitFor();
  await dialog.getByLabel('URL').fill('https://example.com/garden.git');
  await dialog.getByLabel('Acceptance').fill('npm test');
  await dialog.getByRole('button', { name: 'Add repository' }).click();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await page.getByRole('link', { name: 'garden' }).click();
  await page.getByText('No task has named it yet').waitFor();
  await page.getByText('npm test').waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
});
