import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import type { Page } from 'playwright-core';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { aWorkspace } from '../support/factories.js';
import { TestFleet } from '../support/fleet.js';
import { createPerson, listAxeFindingsInAllLooks, TestBrowser } from './dashboard/browser.js';

/** The form of a task, projects, usage, prices, hooks and notices in the dashboard. */

let fleet: TestFleet;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
  browser = await TestBrowser.start(`http://127.0.0.1:${fleet.port}`);
  const owner = await createPerson(fleet, [fleet.workspaceId]);
  await fleet.db.owner.query('UPDATE users SET is_operator = true WHERE email = $1', [owner.email]);
  page = await browser.openSignedIn(owner);
});
afterAll(async () => {
  await browser.stop();
  await fleet.stop();
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const openDialog = () => page.locator('dialog[open]');
const confirm = (name: string) => openDialog().getByRole('button', { name, exact: true }).click();
/** Fills the field of the open dialog whose label begins with this. */
const fill = (label: string, value: string) =>
  openDialog()
    .getByLabel(new RegExp(`^${label.replace(/[()]/g, '\\$&')}`))
    .first()
    .fill(value);
const expectNoAxeFindings = async () => expect(await listAxeFindingsInAllLooks(page)).toEqual([]);

/** A run that can report, of a task with these fields. */
async function aRun(task: object) {
  const id = newId();
  await fleet.api.put(`/agents/${id}`, { name: `agent-${id.slice(-4)}` });
  await fleet.api.post('/agent-tasks', { title: 'Report', taskType: 'test', agentId: id, ...task });
  const { body } = await fleet.api.post<{ token: string }>(`/agents/${id}/token`);
  const authorization = `Bearer ${body.token}`;
  const api = apiClient(`http://127.0.0.1:${fleet.port}`, { authorization });
  const claim = { waitMs: 10_000 };
  const { body: claimed } = await api.post<{ tasks: { run: { id: string } }[] }>(
    `/agents/${id}/claim`,
    claim,
  );
  const runId = String(claimed.tasks[0]?.run.id);
  return (path: string, report: object) => api.post(`/runs/${runId}/${path}`, report);
}

it('a new workspace shows first steps, then its figures with failed tasks in red', async () => {
  const workspaceId = await aWorkspace(fleet.db.owner);
  const theirs = await browser.openSignedIn(await createPerson(fleet, [workspaceId]));
  const steps = theirs.getByRole('list', { name: 'First steps' });
  await steps.getByText('Start a worker').waitFor();
  expect(await theirs.getByRole('region', { name: 'Agents by status' }).count()).toBe(0);
  expect(await listAxeFindingsInAllLooks(theirs)).toEqual([]);
  await steps.getByRole('link', { name: 'a task that says hello' }).click();
  expect(await theirs.getByLabel('Command').inputValue()).toBe('echo hello');
  await theirs.getByRole('button', { name: 'Create task' }).click();
  await theirs.getByRole('heading', { name: 'Say hello', level: 1 }).waitFor();
  await fleet.db.owner.query(
    `UPDATE agent_tasks SET status = 'FAILED', failed_at = now(), failure_reason = 'test',
       ready_at = NULL WHERE workspace_id = $1`,
    [workspaceId],
  );
  await theirs.goto('/');
  await theirs.getByText('1 failed.').waitFor();
  await theirs
    .getByRole('img', { name: 'Tasks finished per 2 minutes, 1 of them failed: 1 in total' })
    .waitFor();
  await steps.getByText('✓ Done').waitFor();
  await theirs.getByRole('link', { name: 'View the dead letter' }).click();
  await theirs.context().close();
});

it('an agent without heartbeats is not idle, and terminated agents leave the lists', async () => {
  const [registered, beating, gone] = [newId(), newId(), newId()];
  for (const [id, name] of [
    [registered, 'only-registered'],
    [beating, 'beating'],
    [gone, 'gone'],
  ])
    await fleet.api.put(`/agents/${id}`, { name });
  const { body } = await fleet.api.post<{ token: string }>(`/agents/${beating}/token`);
  const authorization = `Bearer ${body.token}`;
  const agent = apiClient(`http://127.0.0.1:${fleet.port}`, { authorization });
  expect(
    (await agent.post(`/agents/${beating}/heartbeat`, { status: 'healthy' })).status,
  ).toBeLessThan(300);
  await fleet.api.post(`/agents/${gone}/terminate`, { reason: 'test' });
  await page.goto('/agents');
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('only-registered').getByText('No heartbeat yet').waitFor();
  await row('beating').getByText('Idle').waitFor();
  expect(await row('gone').count()).toBe(0);
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await button('Terminated').click();
  await row('gone').waitFor();
  expect(await row('beating').count()).toBe(0);
});

it('an explanation links to the tasks that it names, and has relative times', async () => {
  const first = await fleet.submit('', { title: 'Comes first', requiredCapabilities: ['none'] });
  const second = await fleet.submit('', { title: 'Comes second', dependsOn: [first] });
  const startAt = new Date(Date.now() + 7_200_000).toISOString();
  const later = await fleet.submit('', { title: 'Comes later', startAt });
  await page.goto(`/tasks/${later}`);
  const reasons = page.getByRole('region', { name: 'Status explanation' });
  await reasons.getByText(/^It starts in (?:2 h|1\d\d min) or later\.$/).waitFor();
  await page.goto(`/tasks/${second}`);
  await reasons.getByText(/It waits for the task Comes first, which is pending/).waitFor();
  await reasons.getByRole('link', { name: 'Comes first' }).click();
  await page.getByRole('heading', { name: 'Comes first', level: 1 }).waitFor();
});

it('the form of a task takes the values of its address, and shows errors at their fields', async () => {
  const first = await fleet.submit('', { title: 'Build the image' });
  const { body: project } = await fleet.api.post<{ id: string }>('/projects', { name: 'Shop' });
  const { body: milestone } = await fleet.api.post<{ id: string }>(
    `/projects/${project.id}/milestones`,
    { name: 'Beta' },
  );
  const search = new URLSearchParams({
    title: 'Deploy',
    taskType: 'deploy',
    priority: '8',
    timeoutSeconds: '60',
    projectId: project.id,
    tags: JSON.stringify(['two words']),
    agent: JSON.stringify({ kind: 'codex', model: 'gpt-5' }),
    inputContext: JSON.stringify({ command: ['sh', '-c', 'echo hi'], region: 'eu' }),
  });
  await page.goto(`/tasks/new?${search.toString()}`);
  await page.getByLabel('Milestone').selectOption({ label: 'Beta' });
  await page.getByLabel('Depends on').fill('Build the');
  await page.getByRole('button', { name: 'Add Build the image' }).click();
  await page.getByRole('list', { name: 'Dependencies' }).getByText('Build the image').waitFor();
  await page.getByLabel('Secrets').fill('DEPLOY_TOKEN=abc');
  await page.getByLabel('Required capabilities').fill('not*valid');
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await button('Create task').click();
  await page
    .getByRole('alert')
    .getByText(/^Required capabilities .*\.$/)
    .waitFor();
  await page.getByLabel('Required capabilities').fill('deploy');
  await page.getByText('Start and limits').click();
  await page.getByLabel('Metadata').fill('[]');
  await button('Create task').click();
  await page.getByRole('alert').getByText('This is not a JSON object.').waitFor();
  await page.getByLabel('Metadata').fill('{"team": "a"}');
  await button('Create task').click();
  await page.getByRole('heading', { name: 'Deploy', level: 1 }).waitFor();
  const { body } = await fleet.api.get<{ items: object[] }>('/agent-tasks?taskType=deploy');
  expect(body.items).toMatchObject([
    {
      title: 'Deploy',
      priority: 8,
      timeoutSeconds: 60,
      projectId: project.id,
      milestoneId: milestone.id,
      dependsOn: [first],
      tags: ['two words'],
      agent: { kind: 'codex', model: 'gpt-5' },
      inputContext: { command: ['sh', '-c', 'echo hi'], region: 'eu' },
      metadata: { team: 'a' },
      secrets: { DEPLOY_TOKEN: '[redacted]' },
    },
  ]);
});

it('a member creates, edits and archives a project with its milestones', async () => {
  const member = await createPerson(fleet, [fleet.workspaceId], 'MEMBER');
  const owners = page;
  page = await browser.openSignedIn(member);
  try {
    await page.getByRole('link', { name: 'Projects' }).click();
    await button('Create project').click();
    await fill('Name', 'Website');
    await fill('Description', 'The new one');
    await confirm('Create project');
    await page.getByRole('link', { name: 'Website' }).click();
    await page.getByRole('heading', { name: 'Website', level: 1 }).waitFor();
    await button('Create milestone').click();
    await fill('Name', 'Launch');
    await fill('Due date', '2030-01-31');
    await confirm('Create milestone');
    const milestone = page.getByRole('list', { name: 'Milestones' }).getByRole('listitem');
    await milestone.getByText('Launch', { exact: true }).waitFor();
    await milestone.getByRole('button', { name: 'Edit' }).click();
    await fill('Name', 'Go live');
    await confirm('Save changes');
    await milestone.getByText('Go live', { exact: true }).waitFor();
    await button('Edit project').click();
    await fill('Name', 'Shop front');
    await fill('Instructions', 'Write tests first.');
    await confirm('Save changes');
    await page.getByRole('heading', { name: 'Shop front', level: 1 }).waitFor();
    await page.locator('.foreign').getByText('Write tests first.').waitFor();
    await expectNoAxeFindings();
    await page.getByRole('link', { name: 'Create task' }).click();
    await page.getByLabel('Milestone').selectOption({ label: 'Go live' });
    await page.goBack();
    await milestone.getByRole('button', { name: 'Archive' }).click();
    await confirm('Archive milestone');
    await milestone.getByText('Archived').waitFor();
    await page.locator('.page-head').getByRole('button', { name: 'Archive' }).click();
    await confirm('Archive project');
    await button('Archive').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Projects' }).first().click();
    await button('Archived').click();
    await page.getByRole('link', { name: 'Shop front' }).waitFor();
    await expectNoAxeFindings();
    await page.getByRole('link', { name: 'Notices' }).waitFor({ state: 'detached' });
  } finally {
    await page.context().close();
    page = owners;
  }
});

it('usage and cost are shown by day, project, agent and model, with the forecast of budgets', async () => {
  const { body: project } = await fleet.api.post<{ id: string }>('/projects', { name: 'Metered' });
  await fleet.api.post('/budgets', {
    scope: 'project',
    scopeId: project.id,
    allocated: '1000',
    recurrence: { every: 'month' },
  });
  const report = await aRun({ projectId: project.id, estimatedTokens: '10' });
  const { body: prices } = await fleet.api.get<{ items: { model: string }[] }>('/model-prices');
  const model = String(prices.items[0]?.model);
  const usage = { id: 'first', model, inputTokens: '700', outputTokens: '77' };
  expect((await report('usage', { reports: [usage] })).body).toMatchObject({ accepted: 1 });
  await page.goto('/');
  await page.getByRole('link', { name: 'Usage', exact: true }).click();
  await page.getByRole('img', { name: 'Tokens used per day: 777 in total' }).waitFor();
  await page.getByText('At this rate it is exhausted').waitFor();
  await expectNoAxeFindings();
  await button('By project').click();
  await page.getByRole('row').filter({ hasText: 'Metered' }).getByText('777').waitFor();
  await button('By model').click();
  await page.getByRole('row').filter({ hasText: model }).getByText('700').waitFor();
  await button('By agent').click();
  await page
    .getByRole('row')
    .getByRole('link', { name: /^agent-/ })
    .waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    button('Download CSV').click(),
  ]);
  expect(download.suggestedFilename()).toBe('usage-by-agent.csv');
  const { body: other } = await fleet.api.post<{ id: string }>('/projects', { name: 'Unused' });
  await page.goto(`/usage?projectId=${other.id}`);
  await page.getByText('No usage in this period').waitFor();
  // These figures are of the whole workspace.
  expect(await page.getByText(/Cost by routing|Budgets and forecast/).count()).toBe(0);
});

it('an operator creates a price, and an admin removes limits and sets providers of models', async () => {
  const report = await aRun({});
  const limit = { provider: 'acme', model: 'acme-1', retryAfterSeconds: 3_600 };
  expect((await report('provider-limits', limit)).status).toBe(200);
  await page.goto('/');
  await page.getByRole('link', { name: '1 provider refuses requests' }).click();
  await page.getByText('refuses further requests for acme-1').waitFor();
  await expectNoAxeFindings();
  await button('Remove limit').click();
  await confirm('Remove limit');
  await page.getByText('No provider refuses requests').waitFor();
  await button('Create price').click();
  await fill('Model', 'acme-1');
  await fill('Input (USD)', '1.5');
  await fill('Output (USD)', '6');
  await fill('Cache read (USD)', '0.1');
  await fill('Cache write (USD)', '2');
  await confirm('Create price');
  await page.getByRole('row').filter({ hasText: 'acme-1' }).getByText('$1.50').waitFor();
  await button('Set provider').click();
  await fill('Key', 'sk-a-key-that-is-long-enough');
  await fill('Address', 'ftp://models.example.com');
  await confirm('Set provider');
  await openDialog().getByRole('alert').waitFor();
  await fill('Address', 'https://models.example.com');
  await confirm('Set provider');
  const providers = page.getByRole('list', { name: 'Providers of models' });
  await providers.getByText('https://models.example.com').waitFor();
  await providers.getByRole('button', { name: 'Remove' }).click();
  await confirm('Remove provider');
  await page.getByText('https://models.example.com').waitFor({ state: 'detached' });
});

it('an admin creates, edits, rotates and deletes an inbound hook, and sees its deliveries', async () => {
  await page.goto('/inbound-hooks');
  await button('Create inbound hook').click();
  await openDialog().getByLabel('Sender').selectOption('generic');
  await fill('Description', 'Orders');
  await fill('Rules', '[{"on": 5}]');
  await confirm('Create inbound hook');
  await openDialog().getByRole('alert').waitFor();
  const task = { title: 'Order {{n}} is late', taskType: 'order' };
  await fill('Rules', JSON.stringify([{ on: 'order.late', do: 'create_task', task }]));
  await confirm('Create inbound hook');
  const [address = '', secret = ''] = (await page.locator('pre').innerText()).trim().split('\n');
  await expectNoAxeFindings();
  const body = JSON.stringify({ type: 'order.late', subject: 'order 7', n: 7 });
  const seconds = Math.floor(Date.now() / 1000);
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`m1.${seconds}.${body}`).digest('base64');
  const answer = await fetch(address, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'm1',
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${signature}`,
    },
  });
  expect(await answer.json()).toMatchObject({ outcome: 'created' });
  await page.getByRole('link', { name: 'Orders' }).click();
  const row = page.getByRole('row').filter({ hasText: 'order 7' });
  await row.getByText('Created').waitFor();
  await expectNoAxeFindings();
  await button('Disable').click();
  await button('Enable').click();
  await button('Disable').waitFor();
  await button('Edit hook').click();
  await fill('Description', 'Late orders');
  await confirm('Save changes');
  await page.getByRole('heading', { name: 'Late orders', level: 1 }).waitFor();
  await button('Rotate secret').click();
  await confirm('Rotate secret');
  await page.getByRole('region', { name: 'New secret' }).waitFor();
  await row.getByRole('link', { name: 'View task' }).click();
  await page.getByRole('heading', { name: 'Order 7 is late', level: 1 }).waitFor();
  await page.goBack();
  await button('Delete').click();
  await confirm('Delete hook');
  await page.getByText('No inbound hooks yet').waitFor();
});

it('an admin creates, edits, disables and deletes a notice', async () => {
  await page.goto('/notices');
  await button('Create notice').click();
  await openDialog().getByLabel(/^Kind/).selectOption('discord');
  await fill('URL', 'https://discord.com/api/webhooks/123/a-secret-part');
  await fill('Description', 'The team channel');
  await fill('Template', '{{nonsense}}');
  await fill('Quiet from', '19:00');
  await confirm('Create notice');
  await openDialog().getByRole('alert').getByText('Quiet hours have a begin').waitFor();
  await fill('Quiet until', '08:00');
  await openDialog().getByLabel('SAT').check();
  await confirm('Create notice');
  await openDialog().getByRole('alert').getByText('nonsense').waitFor();
  await fill('Template', '{{text}}');
  await confirm('Create notice');
  const row = page.getByRole('row').filter({ hasText: 'The team channel' });
  await row.getByText('19:00–08:00').waitFor();
  await expectNoAxeFindings();
  await row.getByRole('link').click();
  await button('Edit').click();
  expect(await openDialog().getByLabel('SAT').isChecked()).toBe(true);
  expect(await openDialog().getByLabel('A task failed for good').isChecked()).toBe(true);
  expect(await openDialog().getByLabel('A review takes too long').isChecked()).toBe(true);
  for (const box of await openDialog().locator('[name=event]').all()) await box.uncheck();
  await openDialog().getByLabel('A budget reached a threshold').check();
  await fill('Other events', 'agent.status_changed.DRAINING');
  await expectNoAxeFindings();
  await confirm('Save changes');
  await page.getByText('Changes saved').first().waitFor();
  const { body } = await fleet.api.get<{ items: object[] }>('/webhooks');
  expect(body.items).toMatchObject([
    {
      kind: 'discord',
      events: ['budget.alert', 'agent.status_changed.DRAINING'],
      quietHours: { from: '19:00', days: ['SAT'] },
    },
  ]);
  await button('Disable').click();
  await button('Enable').waitFor();
  await button('Delete').click();
  await confirm('Delete notice');
  await page.getByText('No notices yet').waitFor();
});

it('an admin edits the settings of a repository, and a member those of a schedule', async () => {
  const { body: repository } = await fleet.api.post<{ id: string }>('/repositories', {
    name: 'shop',
    url: 'https://git.example.com/shop.git',
    requiredChecks: ['test (ubuntu-latest, 20)', 'lint'],
    protectedPaths: ['a, b'],
  });
  await page.goto(`/repositories/${repository.id}`);
  await button('Edit repository').click();
  await fill('Acceptance', 'npm test');
  await openDialog()
    .getByLabel(/^Review/)
    .first()
    .selectOption('agent');
  await confirm('Save changes');
  await openDialog().getByRole('alert').first().waitFor();
  await fill('Kind of the reviewing agent', 'codex');
  await fill('Variables', 'CI=true');
  await fill('Secret variables', 'NPM_TOKEN=a=b');
  await fill('Cached folders', 'c, d\ne');
  await expectNoAxeFindings();
  await confirm('Save changes');
  await page.getByText('NPM_TOKEN', { exact: true }).waitFor();
  const { body } = await fleet.api.get<object>(`/repositories/${repository.id}`);
  expect(body).toMatchObject({
    acceptance: 'npm test',
    review: 'agent',
    reviewer: { kind: 'codex' },
    variables: { CI: 'true' },
    secretNames: ['NPM_TOKEN'],
    requiredChecks: ['test (ubuntu-latest, 20)', 'lint'],
    protectedPaths: ['a, b'],
    cachePaths: ['c, d', 'e'],
  });
  await button('Edit repository').click();
  await fill('Name', 'shop-of-mine');
  await fleet.api.patch(`/repositories/${repository.id}`, { name: 'shop-of-another' });
  // The page reads the other change after a refused one, behind the open form.
  await fill('Variables', 'no value');
  await confirm('Save changes');
  await page.locator('h1', { hasText: 'shop-of-another' }).waitFor();
  await fill('Variables', '');
  await confirm('Save changes');
  await openDialog().getByText('version').waitFor();
  expect((await fleet.api.get<object>(`/repositories/${repository.id}`)).body).toMatchObject({
    name: 'shop-of-another',
  });
  const tasks = [{ taskType: 'test' }];
  const { body: schedule } = await fleet.api.post<{ id: string; nextDueAt: string }>('/schedules', {
    name: 'hourly',
    everySeconds: 3_600,
    tasks,
  });
  await page.goto(`/schedules/${schedule.id}`);
  await button('Edit schedule').click();
  await fill('Name', 'each hour');
  await openDialog().getByLabel('While earlier tasks are unfinished').selectOption('queue');
  await fill('Tasks', '[{"taskType": 5}]');
  await confirm('Save changes');
  await openDialog().getByRole('alert').waitFor();
  await fill('Tasks', '[{"taskType": "hourly"}]');
  await confirm('Save changes');
  await page.getByRole('heading', { name: 'each hour', level: 1 }).waitFor();
  expect((await fleet.api.get<object>(`/schedules/${schedule.id}`)).body).toMatchObject({
    overlap: 'queue',
    nextDueAt: schedule.nextDueAt,
    tasks: [{ taskType: 'hourly' }],
  });
  expect(browser.errors).toEqual([]);
});
