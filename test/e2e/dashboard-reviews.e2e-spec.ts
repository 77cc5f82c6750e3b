import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
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

interface Host {
  agentId: string;
  authorization: string;
  api: ReturnType<typeof apiClient>;
}

/** A host that finds no step of an earlier test. */
async function aHost(): Promise<Host> {
  await fleet.db.owner.query(
    `UPDATE changes SET step_due_at = 'infinity' WHERE step IS NOT NULL AND workspace_id = $1`,
    [fleet.workspaceId],
  );
  const agentId = newId();
  await fleet.api.put(`/agents/${agentId}`, { name: agentId, capabilities: ['git'] });
  const { body } = await fleet.api.post<{ token: string }>(`/agents/${agentId}/token`);
  const authorization = `Bearer ${body.token}`;
  return {
    agentId,
    authorization,
    api: apiClient(`http://127.0.0.1:${fleet.port}`, { authorization }),
  };
}

async function aRepository(name = `shop-${newId().slice(-6)}`): Promise<string> {
  const repository = { name, url: 'https://example.com/shop.git' };
  return (await fleet.api.post<{ id: string }>('/repositories', repository)).body.id;
}

/** Claims the task of a change, submits it, and proves it. */
async function submit({ agentId, authorization, api }: Host, { tokens = 0 } = {}): Promise<string> {
  const claim = await api.post<{ tasks: { run: { id: string }; task: { id: string } }[] }>(
    `/agents/${agentId}/claim`,
    { waitMs: 10_000 },
  );
  const runId = String(claim.body.tasks[0]?.run.id);
  const id = String(claim.body.tasks[0]?.task.id);
  await api.post(`/runs/${runId}/start`, {});
  await api.post(`/runs/${runId}/repository`, {});
  const entries = [{ level: 'INFO', event: 'agent_message', message: 'I read the parser.' }];
  await api.post(`/runs/${runId}/logs`, { entries });
  const usage = { id: 'one', model: 'claude-sonnet-4', inputTokens: tokens, outputTokens: 0 };
  await api.post(`/runs/${runId}/usage`, { reports: [usage] });
  const address = `http://127.0.0.1:${fleet.port}/api/v1/runs/${runId}/artifacts/change.diff`;
  const headers = { authorization, 'content-type': 'text/x-diff' };
  expect((await fetch(address, { method: 'PUT', headers, body: DIFF })).ok).toBe(true);
  const size = { filesChanged: 2, insertions: 3, deletions: 1 };
  const commits = { baseCommit: '0'.repeat(40), headCommit: HEAD };
  await api.post(`/runs/${runId}/submit`, { ...commits, ...size, summary: 'It parses.' });
  await step(api, 'prove', { outcome: 'green', commit: HEAD, exitCode: 0, durationMs: 900 });
  expect(await change(id)).toMatchObject({ state: 'IN_REVIEW' });
  return id;
}

async function step(api: Host['api'], kind: string, report: object): Promise<void> {
  type Work = { step: { changeId: string; kind: string; generation: number } };
  const { body } = await api.post<Work>('/change-steps/claim', { waitSeconds: 10 });
  expect(body.step.kind).toBe(kind);
  const { changeId, generation } = body.step;
  const answer = await api.post(`/change-steps/${changeId}/report`, { generation, ...report });
  expect(answer.status).toBe(200);
}

/** A change that waits for a review. */
async function aChange(title: string): Promise<string> {
  const host = await aHost();
  const repositoryId = await aRepository();
  const task = { title, taskType: 'test', agentId: host.agentId, repositoryId };
  await fleet.api.post('/agent-tasks', task);
  return submit(host);
}

it('a reviewer reads the diff, comments on a line and requests changes by keyboard', async () => {
  const id = await aChange('Accept ISO weeks');
  await page.goto('/reviews');
  await page.getByRole('link', { name: 'Accept ISO weeks' }).click();
  const file = page.getByRole('region', { name: 'src/date.ts', exact: true });
  await file.getByText('// ISO weeks, such as 2026-W48.').waitFor();
  await page.getByText('# Weeks').waitFor();
  await file.locator('.token.keyword', { hasText: 'return' }).first().waitFor();
  await page.setViewportSize({ width: 1_280, height: 240 });
  const topAfter = async (key: string, isReached: (top: number) => boolean) => {
    await page.keyboard.press(key);
    const top = async () => (await file.boundingBox())?.y ?? NaN;
    await waitFor(`the next file after ${key}`, async () => isReached(await top()));
  };
  await topAfter('j', (top) => Math.abs(top) < 8);
  await topAfter('j', (top) => top < -8);
  await topAfter('k', (top) => Math.abs(top) < 8);
  await page.setViewportSize({ width: 1_280, height: 900 });
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
  await fleet.db.owner.query(`UPDATE agent_tasks SET agent = '{"kind": "codex"}' WHERE id = $1`, [
    id,
  ]);
  await page.goto(`/reviews/${id}`);
  await page.getByText('It parses.').waitFor();
  await page.getByRole('region', { name: 'Transcript' }).getByText('I read the parser.').waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await page.keyboard.press('a');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await page.locator('.page-head .badge', { hasText: 'Approved' }).waitFor();
  expect(await change(id)).toMatchObject({ state: 'APPROVED', headCommit: HEAD });
  const later = `UPDATE changes SET step_due_at = now() + interval '1 hour' WHERE task_id = $1`;
  await fleet.db.owner.query(later, [id]);
  await page.keyboard.press('m');
  await page.getByText('Merge requested').waitFor();
  const due = `SELECT step_due_at <= now() AS is_due FROM changes WHERE task_id = $1`;
  expect((await fleet.db.owner.query(due, [id])).rows).toEqual([{ is_due: true }]);
});

it('a repository is added, and its page shows its changes', async () => {
  await page.goto('/repositories');
  await page.getByRole('button', { name: 'Add repository' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('garden');
  await dialog.getByLabel('URL').fill('ext::sh -c id');
  await dialog.getByRole('button', { name: 'Add repository' }).click();
  await dialog.getByText('URL must').waitFor();
  await dialog.getByLabel('URL').fill('https://example.com/garden.git');
  await dialog.getByLabel('Acceptance').fill('npm test');
  await dialog.getByRole('button', { name: 'Add repository' }).click();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await page.getByRole('link', { name: 'garden' }).click();
  await page.getByText('No task has named it yet').waitFor();
  await page.getByRole('region', { name: 'Acceptance' }).getByText('npm test').waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
});

it('an admin replaces and removes the committer and the keys of a repository', async () => {
  const id = await aRepository();
  const read = async () => (await fleet.api.get<object>(`/repositories/${id}`)).body;
  const dialog = page.getByRole('dialog');
  const edit = () => page.getByRole('button', { name: 'Edit repository' }).click();
  const save = async () => {
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.waitFor({ state: 'hidden' });
  };
  await page.goto(`/repositories/${id}`);
  await edit();
  await dialog.getByLabel('Name of the committer').fill('Shop agents');
  await dialog.getByLabel('E-mail of the committer').fill('agents@example.com');
  const credentials = dialog.getByLabel('Credentials');
  await credentials.selectOption('ssh');
  await dialog.getByLabel('Known hosts').waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await credentials.selectOption('token');
  await dialog.getByLabel(/^Token/).fill('a-token');
  const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----';
  await dialog.getByLabel('Signing key').fill(key);
  await save();
  expect(await read()).toMatchObject({
    committer: { name: 'Shop agents', email: 'agents@example.com' },
    credentials: 'token',
    hasSigningKey: true,
  });
  await page.getByText('Shop agents <agents@example.com>').waitFor();
  await edit();
  await credentials.selectOption('remove');
  await dialog.getByLabel('Remove the signing key').check();
  for (const label of ['Name', 'E-mail'])
    await dialog.getByLabel(`${label} of the committer`).fill('');
  await save();
  const removed = { committer: null, credentials: null, hasSigningKey: false };
  expect(await read()).toMatchObject(removed);
});

it('a reviewer compares attempts, and approves one of them', async () => {
  const host = await aHost();
  const repositoryId = await aRepository('yard');
  const task = { title: 'Try twice', taskType: 'test', agentId: host.agentId, repositoryId };
  await fleet.api.post('/task-attempts', { task, attempts: 2 });
  const first = await submit(host, { tokens: 1_200 });
  const second = await submit(host, { tokens: 45_000 });
  await page.goto(`/reviews/${first}`);
  await page.getByRole('link', { name: 'Compare the attempts' }).click();
  const table = page.getByRole('table', { name: 'Attempts side by side' });
  await table.getByRole('row', { name: 'Tokens 1.2k 45.0k' }).waitFor();
  await table.getByRole('row', { name: 'Lines +3 −1 +3 −1' }).waitFor();
  const diffs = page.getByRole('region', { name: /^src\/date\.ts of attempt \d$/ });
  await diffs.nth(1).waitFor();
  expect(await diffs.count()).toBe(2);
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await page.getByRole('button', { name: 'Hide diff of attempt 1' }).click();
  await diffs.nth(1).waitFor({ state: 'detached' });
  await table.getByRole('button', { name: 'Approve' }).nth(1).click();
  const dialog = page.getByRole('dialog', { name: 'Approve attempt 2' });
  await dialog.getByText('The other attempts are closed').waitFor();
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await table.getByRole('row', { name: 'State Closed Approved' }).waitFor();
  expect(await change(second)).toMatchObject({ state: 'APPROVED' });

  // The queue names the host, and why it does not go on.
  await page.goto('/reviews');
  await page.getByRole('link', { name: 'Merge queue' }).click();
  const queue = page.getByRole('table', { name: 'Merge queue of yard main' });
  await queue.getByRole('link', { name: 'Try twice' }).waitFor();
  const settings = `UPDATE changes SET step_due_at = now() + interval '1 hour', obstacle = $2
    WHERE task_id = $1`;
  await fleet.db.owner.query(settings, [second, 'The checkout is dirty.']);
  await queue.getByText('The checkout is dirty.').waitFor();
  await queue.getByText('Blocked').waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
});

it('merged changes have a price, and kinds stand side by side', async () => {
  const host = await aHost();
  const repositoryId = await aRepository('field');
  const task = { title: 'Paid work', taskType: 'test', agentId: host.agentId, repositoryId };
  await fleet.api.post('/agent-tasks', task);
  const id = await submit(host, { tokens: 250_000 });
  await fleet.api.post(`/changes/${id}/approve`, { headCommit: HEAD });
  await step(host.api, 'land', { outcome: 'merged', commit: '2'.repeat(40) });
  await page.goto('/reviews');
  await page.getByRole('link', { name: 'What it cost' }).click();
  const all = page.getByRole('table', { name: 'Merged changes' });
  await all.getByRole('row', { name: /^Paid work.*claude-sonnet-4 250k \$0\.75/ }).waitFor();
  await page.getByRole('button', { name: 'Repository' }).click();
  const bars = page.getByRole('region', { name: 'Cost of a change' });
  const bar = 'field: $0.75 ($0.75 to $0.75), 1 merged';
  await bars.getByRole('img', { name: bar }).waitFor();
  await page.getByLabel('Period').selectOption('90');
  await bars.getByRole('img', { name: bar }).waitFor();
  expect(new URL(page.url()).search).toBe('?groupBy=repository&days=90');
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  expect((await downloading).suggestedFilename()).toBe('merged-changes.csv');
  expect(browser.errors).toEqual([]);
});

it('an admin has a host check a repository', async () => {
  const { api } = await aHost();
  const id = await aRepository();
  await page.goto(`/repositories/${id}`);
  await page.getByRole('button', { name: 'Check repository' }).click();
  await page.getByText('It waits for a host.').waitFor();
  const { body } = await api.post<{ check: { generation: number } }>('/change-steps/claim', {
    checks: true,
    waitSeconds: 10,
  });
  const message = 'Branches cannot be pushed';
  const finding = { name: 'push', outcome: 'failed', message, advice: 'Give other credentials.' };
  const report = { generation: body.check.generation, findings: [finding] };
  expect((await api.post(`/repositories/${id}/check/report`, report)).status).toBe(200);
  await page.getByText(message).waitFor();
  await page.getByText('Give other credentials.').waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
});
