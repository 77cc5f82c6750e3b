import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { createPerson, listAxeFindingsInAllLooks, TestBrowser } from './dashboard/browser.js';

/** Schedules, templates, the dead letter and the kill switch in the dashboard. */

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

const button = (name: string) => page.getByRole('button', { name, exact: true });
const ofTask = () => page.getByRole('region', { name: 'Task', exact: true });
const openDialog = () => page.locator('dialog[open]');
const confirm = (name: string) => openDialog().getByRole('button', { name, exact: true }).click();

/** An agent of the API, and the requests that it may make. */
async function anAgent() {
  const id = newId();
  await fleet.api.put(`/agents/${id}`, { name: id });
  const { body } = await fleet.api.post<{ token: string }>(`/agents/${id}/token`);
  const authorization = `Bearer ${body.token}`;
  const api = apiClient(`http://127.0.0.1:${fleet.port}`, { authorization });
  const claim = async (taskId?: string) => {
    const request = taskId === undefined ? { waitMs: 10_000 } : { taskId };
    type Claimed = { tasks: { run: { id: string } }[] };
    const { body } = await api.post<Claimed>(`/agents/${id}/claim`, request);
    return String(body.tasks[0]?.run.id);
  };
  return { id, api, claim };
}

it('a member creates a schedule, runs it, pauses it and deletes it', async () => {
  await page.goto('/schedules');
  await page.getByText('No schedules yet').waitFor();
  await button('Create schedule').click();
  const dialog = openDialog();
  await dialog.locator('[name=name]').fill('nightly');
  await dialog.getByLabel('Cron expression').fill('every morning');
  await button('Show next due times').click();
  await dialog.getByRole('alert').getByText('Cron expression').waitFor();
  await dialog.getByLabel('Cron expression').fill('30 2 * * *');
  await dialog.getByLabel('Time zone').fill('UTC');
  await button('Show next due times').click();
  const dueTimes = dialog.getByRole('list', { name: 'Next due times' }).getByRole('listitem');
  await dueTimes.nth(9).waitFor();
  expect(await dueTimes.count()).toBe(10);
  await dialog.getByLabel('Command').fill('node backup.js');
  await dialog.getByLabel('Additional input').fill('[]');
  await confirm('Create schedule');
  await dialog.getByText('This is not a JSON object.').waitFor();
  await dialog.getByLabel('Additional input').fill('{"keep": 7}');
  await dialog.getByLabel('Priority').fill('8');
  await dialog.getByLabel('Secrets').fill('DISK_KEY=swordfish-8');
  await confirm('Create schedule');
  await page.getByRole('link', { name: 'nightly' }).waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await page.getByRole('link', { name: 'nightly' }).click();
  await page.getByText('It was not due yet').waitFor();
  await button('Run now').click();
  const row = page.getByRole('row').filter({ hasText: '(by hand)' });
  await row.getByRole('link', { name: 'nightly' }).waitFor();
  await row.getByText('Pending').waitFor();
  await page.getByRole('link', { name: 'Show tasks' }).click();
  await page.getByRole('row').getByRole('link', { name: 'nightly' }).waitFor();
  await button('Remove schedule filter').waitFor();
  await page.goBack();
  await button('Pause').click();
  await openDialog().getByLabel('Reason').fill('The disk is full');
  await confirm('Pause');
  await page.getByText('The disk is full').waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await button('Resume').click();
  await button('Pause').waitFor();
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: 'nightly' }).waitFor();
  const { body } = await fleet.api.get<{ items: object[] }>('/agent-tasks?text=nightly');
  expect(body.items).toMatchObject([{ priority: 8, secrets: { DISK_KEY: '[redacted]' } }]);
  await ofTask().getByRole('link', { name: 'nightly' }).click();
  await page.waitForURL('**/schedules/*');
  await page.goto('/schedules?text=weekly');
  await page.getByText('No schedules match this search').waitFor();
  await page.getByLabel('Search names').fill('NIGHT');
  await button('Search').click();
  await page.getByRole('link', { name: 'nightly' }).click();
  await button('Delete').click();
  await confirm('Delete');
  await page.getByText('No schedules yet').waitFor();
});

it('a member replays a group of the dead letter with a changed input', async () => {
  const agent = await anAgent();
  const task = { title: 'Import', taskType: 'import', agentId: agent.id, maxRetries: 0 };
  await fleet.api.post('/agent-tasks', { ...task, inputContext: { batch: 100, file: 'a.csv' } });
  const runId = await agent.claim();
  const error = { message: 'Batch too large' };
  expect((await agent.api.post(`/runs/${runId}/fail`, { error })).status).toBe(200);
  await page.goto('/');
  await page.getByRole('link', { name: 'Dead letter 1' }).waitFor();
  await page.getByRole('link', { name: '1 failed task' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Batch too large' });
  await row.getByRole('link', { name: '1', exact: true }).click();
  await page.getByRole('link', { name: 'Import' }).waitFor();
  await button('Remove failure filter').waitFor();
  await page.goBack();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await row.getByRole('button', { name: 'Replay' }).click();
  await openDialog().getByLabel('Changed input').fill('{"batch": 10}');
  await confirm('Replay');
  await page.getByText('1 of 1 tasks replayed').waitFor();
  await page.getByText('The dead letter is empty').waitFor();
  const { body } = await fleet.api.get<{ items: { id: string }[] }>('/agent-tasks?text=Import');
  const inputContext = { batch: 10, file: 'a.csv' };
  expect(body.items).toMatchObject([{ status: 'PENDING', inputContext }, { status: 'FAILED' }]);
  await page.goto(`/tasks/${body.items[0]?.id}`);
  await ofTask().getByText('Replays').waitFor();
  await ofTask().getByRole('link', { name: 'Import' }).click();
  await ofTask().getByText('Replayed by').waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
});

it('a member edits and retries a task, and replays one, a selection and those of a type', async () => {
  const agent = await anAgent();
  const ids = new Map<string, string>();
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six', 'seven']) {
    const task = { title: `Report ${name}`, taskType: 'report', agentId: agent.id, maxRetries: 0 };
    const { id } = (await fleet.api.post<{ id: string }>('/agent-tasks', task)).body;
    ids.set(name, id);
    const error = { message: `No data for ${name}` };
    await agent.api.post(`/runs/${await agent.claim(id)}/fail`, { error });
  }
  const select = (name: string) =>
    page.getByLabel(`Select Report ${name}`, { exact: true }).check();

  await page.goto(`/tasks/${ids.get('one')}`);
  await button('Edit task').click();
  await openDialog().getByRole('textbox', { name: 'Title' }).fill('Report uno');
  await openDialog().getByLabel('Maximum retries').fill('2');
  await openDialog().getByLabel('Secrets').fill('A line');
  await confirm('Save changes');
  await openDialog().getByText('Each line must be NAME=value.').waitFor();
  await openDialog().getByLabel('Secrets').fill('');
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await confirm('Save changes');
  await page.getByRole('heading', { name: 'Report uno' }).waitFor();
  await button('Retry task').click();
  await page.locator('.page-head .badge', { hasText: 'Pending' }).waitFor();
  const edited = await fleet.api.get<object>(`/agent-tasks/${ids.get('one')}`);
  expect(edited.body).toMatchObject({ title: 'Report uno', maxRetries: 2, priority: 5 });

  await page.goto(`/tasks/${ids.get('two')}`);
  await button('Replay task').click();
  await openDialog().getByLabel('Changed input').fill('{"day": 2}');
  await confirm('Replay');
  await ofTask().getByText('Replays').waitFor();
  await page.getByText('"day": 2').first().waitFor({ state: 'attached' });

  await page.goto('/tasks?taskType=report&status=FAILED');
  await select('three');
  await select('four');
  await button('Replay').click();
  await confirm('Replay');
  await page.getByText('2 of 2 tasks replayed').waitFor();
  await select('three');
  await button('Archive').click();
  await confirm('Archive tasks');
  await page.getByText('1 task changed').waitFor();
  await select('five');
  await select('six');
  await button('Retry').click();
  await confirm('Retry tasks');
  await page.getByText('2 tasks changed').waitFor();
  await page.getByLabel('Select Report six').waitFor({ state: 'detached' });

  await page.goto('/dead-letter');
  await button('Replay tasks').click();
  await openDialog().getByLabel('Task type').fill('report');
  await confirm('Replay');
  await page.getByText('The dead letter is empty').waitFor();
  const { body } = await fleet.api.get<{ items: { title: string; status: string }[] }>(
    '/agent-tasks?taskType=report&sort=oldest',
  );
  const shown = body.items.map(({ title, status }) => `${title.slice(7)} ${status}`);
  expect(shown).toEqual([
    'uno PENDING',
    'two FAILED',
    'three ARCHIVED',
    'four FAILED',
    'five PENDING',
    'six PENDING',
    'seven FAILED',
    ...['two', 'three', 'four', 'seven'].map((name) => `${name} PENDING`),
  ]);
});

it('a member selects tasks, changes their priority and cancels them', async () => {
  const create = async (title: string) =>
    (await fleet.api.post<{ id: string }>('/agent-tasks', { title, taskType: 'chosen' })).body.id;
  const ids = [await create('Chosen one'), await create('Chosen two'), await create('Left alone')];
  await page.goto('/tasks?taskType=chosen');
  await page.getByLabel('Select Chosen one').check();
  await page.getByLabel('Select Chosen two').check();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await button('Change priority').click();
  await openDialog().getByLabel('Priority').fill('9');
  await confirm('Change priority');
  await page.getByText('2 tasks changed').waitFor();
  await page.getByLabel('Select Chosen one').check();
  await button('Select all shown').click();
  await page.getByText('3 selected').waitFor();
  await page.getByLabel('Select Left alone').uncheck();
  await button('Cancel').click();
  await confirm('Cancel tasks');
  await page.getByRole('row').filter({ hasText: 'Chosen two' }).getByText('Cancelled').waitFor();
  const tasks = ids.map(async (id) => (await fleet.api.get<object>(`/agent-tasks/${id}`)).body);
  expect(await Promise.all(tasks)).toMatchObject([
    { status: 'ABORTED', priority: 9 },
    { status: 'ABORTED', priority: 9 },
    { status: 'PENDING', priority: 5 },
  ]);
});

it('an admin ends all runs by the kill switch, and the overview says so', async () => {
  const agent = await anAgent();
  const task = { title: 'Under way', taskType: 'test', agentId: agent.id };
  const { body } = await fleet.api.post<{ id: string }>('/agent-tasks', task);
  await agent.claim();
  await page.goto('/coordinator');
  await button('Kill switch').click();
  await openDialog().getByLabel('Reason').fill('Agents delete files');
  await confirm('End all runs');
  const row = page.getByRole('row').filter({ hasText: 'Agents delete files' });
  await row.getByText('(kill switch)').waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await waitFor('the end of the run', async () => {
    const { status } = (await fleet.api.get<{ status: string }>(`/agent-tasks/${body.id}`)).body;
    return status === 'PAUSED' || status === 'PENDING';
  });
  await page.goto('/');
  await page.getByText('The kill switch is on').waitFor();
  await page.goto('/coordinator');
  await row.getByRole('button', { name: 'End pause' }).click();
  await page.getByText('No active pauses').waitFor();
  expect(browser.errors).toEqual([]);
});

it('a member saves a form as a template, and a task of it keeps the secrets that nobody sees', async () => {
  await page.goto('/tasks/new?title=Publish&taskType=publish&tags=["site"]&priority=7');
  await page.getByLabel('Secrets').fill('SITE_KEY=swordfish-7');
  await button('Save as template').click();
  await openDialog().getByLabel('Name').fill('Publish the site');
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await confirm('Save template');
  await page.getByText('Template saved').waitFor();
  // The list of the API has it on the second page.
  await fleet.db.owner.query(
    `INSERT INTO task_templates (workspace_id, id, name, task, created_by)
     SELECT workspace_id, uuidv7(), 'template ' || n, task, created_by
     FROM task_templates, generate_series(1, 200) n WHERE workspace_id = $1`,
    [fleet.workspaceId],
  );
  await page.goto('/tasks/new');
  await page
    .getByRole('combobox', { name: 'Template' })
    .selectOption({ label: 'Publish the site' });
  await page.locator('input[name="title"][value="Publish"]').waitFor();
  expect(await page.getByLabel('Secrets').inputValue()).toBe('SITE_KEY=[redacted]');
  expect(await page.getByLabel('Priority').inputValue()).toBe('7');
  await button('Save as template').click();
  await openDialog().getByLabel('Name').fill('A copy');
  await confirm('Save template');
  await openDialog().getByRole('alert').getByText('Secrets SITE_KEY').waitFor();
  await confirm('Cancel');
  await page.getByLabel('Tags').fill('');
  await page.getByRole('textbox', { name: 'Title' }).fill('Publish today');
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await button('Create task').click();
  await page.getByRole('heading', { name: 'Publish today', level: 1 }).waitFor();
  const { body } = await fleet.api.get<{ items: { id: string }[] }>(
    '/agent-tasks?taskType=publish',
  );
  const task = {
    title: 'Publish today',
    priority: 7,
    tags: [],
    secrets: { SITE_KEY: '[redacted]' },
  };
  expect(body.items).toMatchObject([task]);
  const { rows } = await fleet.db.owner.query(
    `SELECT sealed FROM task_secrets WHERE task_id = $1 AND column_name = 'secrets'`,
    [body.items[0]?.id],
  );
  expect(rows).toHaveLength(1);
});

it('a member finds a template by the menu, edits it, creates a task from it and deletes it', async () => {
  await fleet.api.post('/task-templates', {
    name: 'Tidy up',
    description: 'Every Friday',
    task: {
      taskType: 'tidy',
      tags: ['weekly'],
      secrets: { TIDY_KEY: 'mackerel-3' },
      inputContext: { depth: 2 },
    },
  });
  await page.goto('/tasks');
  await page.getByRole('link', { name: 'Templates', exact: true }).click();
  await page.getByRole('row').filter({ hasText: 'Every Friday' }).waitFor();
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await page.getByRole('link', { name: 'Tidy up', exact: true }).click();
  await page.waitForURL('**/templates/tidy-up-*');
  expect(await page.getByLabel('Secrets').inputValue()).toBe('TIDY_KEY=[redacted]');
  expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
  await page.getByLabel('Name', { exact: true }).fill('Tidy the shed');
  await page.getByLabel('Priority').fill('9');
  await page.getByLabel('Tags').fill('');
  await page.getByLabel('Required capabilities').fill('broom x'.repeat(60));
  await button('Save changes').click();
  await page.getByRole('alert').first().waitFor();
  await page.getByLabel('Required capabilities').fill('broom');
  await button('Save changes').click();
  await page.getByRole('heading', { name: 'Tidy the shed' }).waitFor();
  const { body } = await fleet.api.get<{ items: object[] }>('/task-templates?name=Tidy the shed');
  expect(body.items).toMatchObject([
    {
      description: 'Every Friday',
      task: {
        taskType: 'tidy',
        priority: 9,
        requiredCapabilities: ['broom'],
        secrets: { TIDY_KEY: '[redacted]' },
        inputContext: { depth: 2 },
      },
    },
  ]);
  expect(body.items).not.toHaveProperty('0.task.tags');
  expect(body.items).not.toHaveProperty('0.task.title');
  await page.getByRole('link', { name: 'Create task' }).click();
  await page.getByRole('textbox', { name: 'Title' }).waitFor();
  expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Tidy the shed');
  await button('Create task').click();
  await page.getByRole('heading', { name: 'Tidy the shed', level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('combobox', { name: 'Template' }).waitFor();
  await page.goBack();
  await button('Delete').click();
  await confirm('Delete');
  await page.getByRole('heading', { name: 'Templates' }).waitFor();
  await page.getByRole('row').filter({ hasText: 'Tidy the shed' }).waitFor({ state: 'detached' });
  expect(browser.errors).toEqual([]);
});
