import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { createPerson, listAxeFindingsInAllLooks, TestBrowser } from './dashboard/browser.js';

/** Administration of a workspace in the dashboard. */

/** That of the browser. Its midnight is at 15:00 in UTC. */
const TIME_ZONE = 'Asia/Tokyo';

let fleet: TestFleet;
let browser: TestBrowser;
let page: Page;
let receiver: Server;
const received: string[] = [];

beforeAll(async () => {
  fleet = await TestFleet.create();
  await fleet.startServer({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
  receiver = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    request.resume().on('end', () => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  browser = await TestBrowser.start(`http://127.0.0.1:${fleet.port}`);
  const person = await createPerson(fleet, [fleet.workspaceId]);
  await fleet.db.owner.query('UPDATE users SET is_operator = true WHERE email = $1', [
    person.email,
  ]);
  page = await browser.openSignedIn(person, { timeZone: TIME_ZONE });
});

afterAll(async () => {
  await browser.stop();
  receiver.close();
  await fleet.stop();
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const rowOf = (text: string) => page.getByRole('row').filter({ hasText: text });
const panel = (name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name }) });
const openDialog = () => page.locator('dialog[open]');
const confirm = (name: string) => openDialog().getByRole('button', { name, exact: true }).click();

describe('the dashboard', () => {
  it('an admin creates and revokes an API key, and the audit log lists both', async () => {
    await page.goto('/settings');
    await button('Create API key').click();
    await openDialog().getByLabel('Name').fill('A program');
    await confirm('Create API key');
    const key = (await page.locator('pre.foreign').textContent()) ?? '';
    const ask = (): Promise<number> =>
      fetch(`http://127.0.0.1:${fleet.port}/api/v1/agent-tasks`, {
        headers: { authorization: `Bearer ${key.trim()}` },
      }).then(({ status }) => status);
    expect(await ask()).toBe(200);
    await page.reload();
    await rowOf('A program').waitFor();
    expect(await page.locator('pre.foreign').count()).toBe(0);
    await rowOf('A program').getByRole('button', { name: 'Revoke' }).click();
    await confirm('Revoke API key');
    await rowOf('A program').getByText('Revoked').waitFor();
    await waitFor('the key to end', async () => (await ask()) === 401);
    await page.goto('/audit');
    await rowOf('Revoke an API key').waitFor();
    await page.getByLabel('Operation').selectOption('Create an API key');
    await rowOf('Revoke an API key').waitFor({ state: 'detached' });
    expect(await rowOf('Create an API key').textContent()).toContain('Done');
  });

  it('a member whose role is lowered loses the actions of the old role', async () => {
    const member = await createPerson(fleet, [fleet.workspaceId], 'MEMBER');
    const theirs = await browser.openSignedIn(member);
    await theirs.goto('/tasks');
    await theirs.getByText('Create task').first().waitFor();
    await page.goto('/settings');
    await page.getByLabel(`Role of ${member.email}`).selectOption('VIEWER');
    await page.getByText('Role changed').waitFor();
    await theirs.reload();
    await theirs.getByRole('heading', { level: 1 }).waitFor();
    await theirs.getByText('Create task').waitFor({ state: 'detached' });
    await theirs.context().close();
  });

  it('an admin decides about the hooks of a member who is demoted or removed', async () => {
    const member = await createPerson(fleet, [fleet.workspaceId], 'ADMIN');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/member`;
    const { body: hook } = await fleet.api.post<{ id: string }>('/webhooks', {
      url,
      events: ['task.created'],
      description: 'Deploys',
    });
    await fleet.db.owner.query(
      `UPDATE webhooks SET created_by = (SELECT id FROM users WHERE email = $2) WHERE id = $1`,
      [hook.id, member.email],
    );
    const isEnabled = async () =>
      (await fleet.api.get<{ enabled: boolean }>(`/webhooks/${hook.id}`)).body.enabled;
    await page.goto('/settings');
    await page.getByLabel(`Role of ${member.email}`).selectOption('MEMBER');
    await openDialog().getByLabel('Keep these hooks enabled').check();
    await confirm('Change role');
    await page.getByText('Role changed; still enabled: webhook Deploys').waitFor();
    expect(await isEnabled()).toBe(true);
    await rowOf(member.email).getByRole('button', { name: 'Remove' }).click();
    await confirm('Remove member');
    await page.getByText('Member removed; disabled: webhook Deploys').waitFor();
    expect(await isEnabled()).toBe(false);
  });

  it('an admin moves tokens between budgets, and the panel lists reached thresholds', async () => {
    const period = { periodStart: '2026-01-01T00:00:00Z', periodEnd: '2099-01-01T00:00:00Z' };
    const { body: project } = await fleet.api.post<{ id: string }>('/projects', {
      name: 'Invoices',
    });
    const budget = (values: object) =>
      fleet.api.post<{ id: string }>('/budgets', { ...values, ...period });
    await budget({ scope: 'global', allocated: 1_000 });
    const { body: small } = await budget({
      scope: 'project',
      scopeId: project.id,
      allocated: 100,
    });
    await fleet.db.owner.query('UPDATE usage_budgets SET consumed = 80 WHERE id = $1', [small.id]);
    await waitFor('the alerts', async () => {
      const path = `/budgets/${small.id}/alerts`;
      return (await fleet.api.get<{ items: object[] }>(path)).body.items.length === 2;
    });
    await page.goto('/budgets');
    await panel('Whole workspace').getByRole('button', { name: 'Move tokens' }).click();
    await openDialog().getByRole('combobox').selectOption({ label: 'Project Invoices' });
    await openDialog().getByLabel('Tokens').fill('0.06k');
    await confirm('Move tokens');
    await panel('Project Invoices').getByText('80 of 160 tokens').waitFor();
    await panel('Project Invoices').getByText('(80 of 100)').first().waitFor();
    await panel('Whole workspace').getByText('0 of 940 tokens').waitFor();
    await panel('Project Invoices').getByRole('button', { name: 'Edit budget' }).click();
    await openDialog().getByLabel('Tokens').fill('400');
    await confirm('Save changes');
    await panel('Project Invoices').getByText('80 of 400 tokens').waitFor();
  });

  it('an admin creates a recurring budget in the time zone of the browser', async () => {
    const { body: project } = await fleet.api.post<{ id: string }>('/projects', {
      name: 'Letters',
    });
    await page.goto('/budgets');
    await button('Create budget').click();
    // Labels include their hints.
    const field = (name: string) => openDialog().getByLabel(new RegExp(`^${name}`));
    await field('Period').selectOption('Once');
    await field('Days').waitFor();
    expect(await field('Time zone').count()).toBe(0);
    await field('Period').selectOption('Every week');
    expect([await field('Time zone').inputValue(), await field('Days').count()]).toEqual([
      TIME_ZONE,
      0,
    ]);
    await field('Tokens').fill('5k');
    await field('Project').selectOption(project.id);
    await field('When exhausted').selectOption('Cancel running tasks');
    await field('Time zone').fill('Mars/Olympus');
    await confirm('Create budget');
    await openDialog()
      .getByRole('alert')
      .getByText(/^Time zone /)
      .waitFor();
    await field('Time zone').fill(TIME_ZONE);
    await confirm('Create budget');
    await openDialog().waitFor({ state: 'detached' });
    await panel('Project Letters').getByText(`5.0k tokens every week (${TIME_ZONE})`).waitFor();
    const { body } = await fleet.api.get<{ items: { periodStart: string }[] }>(
      `/budgets?scope=project&scopeId=${project.id}`,
    );
    expect(body.items).toMatchObject([
      { policy: 'abort', recurrence: { every: 'week', timeZone: TIME_ZONE, allocated: '5000' } },
    ]);
    const start = new Date(body.items[0]?.periodStart ?? '');
    expect([start.getUTCDay(), start.toISOString().slice(11)]).toEqual([0, '15:00:00.000Z']);
  });

  it('the chart of usage has the days of the time zone of the browser', async () => {
    // A workspace without a task has first steps in place of charts.
    await fleet.api.post('/agent-tasks', { title: 'A task', taskType: 'test' });
    const usage = page.waitForResponse((answer) => answer.url().includes('/api/v1/usage?'));
    await page.goto('/');
    const answer = await usage;
    expect(new URL(answer.url()).searchParams.get('timeZone')).toBe(TIME_ZONE);
    expect(answer.status()).toBe(200);
  });

  it('an admin pauses a task type and ends the pause', async () => {
    await page.goto('/coordinator');
    await button('Pause tasks').click();
    await openDialog().getByLabel('Reason').fill('A bad release');
    await openDialog().getByLabel('Type').fill('deploy');
    await confirm('Pause tasks');
    await rowOf('A bad release').waitFor();
    const { body } = await fleet.api.get<{ items: object[] }>('/pauses');
    expect(body.items).toMatchObject([{ scope: 'task_type', taskType: 'deploy' }]);
    await rowOf('A bad release').getByRole('button', { name: 'End pause' }).click();
    await page.getByText('No active pauses').waitFor();
  });

  it('an operator turns the kill switch of all workspaces on and off', async () => {
    await page.goto('/coordinator');
    await button('Kill switch').click();
    await openDialog().getByText('all live runs of the workspace, 0 now').waitFor();
    await openDialog().getByLabel('All workspaces').check();
    await openDialog().getByText('all live runs of all workspaces').waitFor();
    await openDialog().getByLabel('Reason').fill('A bad model');
    await confirm('End all runs');
    await rowOf('A bad model').getByText('All workspaces (kill switch)').waitFor();
    const { body } = await fleet.api.get<{ items: object[] }>('/pauses');
    expect(body.items).toMatchObject([{ scope: 'everything', endRuns: true }]);
    await rowOf('A bad model').getByRole('button', { name: 'End pause' }).click();
    await page.getByText('No active pauses').waitFor();
  });

  it('an admin sets routing rules, fallbacks and the template of prompts', async () => {
    await page.goto('/models');
    const rules = page.getByRole('list', { name: 'Rules' });
    for (const [type, model] of [
      ['review', ''],
      ['deploy', 'claude-haiku-4-5'],
    ] as const) {
      await button('Add rule').click();
      await openDialog().getByLabel('Type of task').fill(type);
      await openDialog().locator('[name=tier]').selectOption('opus');
      await openDialog().locator('[name=model]').fill(model);
      await confirm('Add rule');
      await rules.getByText(`type ${type}`).waitFor();
    }
    await button('Move up rule 2').click();
    await rules
      .getByRole('listitem')
      .first()
      .getByText('claude-haiku-4-5 for type deploy')
      .waitFor();
    await button('Edit routing').click();
    await openDialog().getByLabel('Choose the models of runs').check();
    const fallbacks = openDialog().getByRole('textbox', { name: /^Fallbacks/ });
    await fallbacks.fill('claude-opus-4-6');
    await confirm('Save changes');
    await openDialog().getByRole('alert').getByText('other model').waitFor();
    await fallbacks.fill('claude-opus-4-6: claude-sonnet-4-6, claude-haiku-4-5');
    await confirm('Save changes');
    await page.getByText('Each run gets the model of the first rule').waitFor();
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    expect((await fleet.api.get<object>('/model-routing')).body).toMatchObject({
      enabled: true,
      rules: [
        { taskType: 'deploy', model: 'claude-haiku-4-5' },
        { taskType: 'review', tier: 'opus' },
      ],
      fallbacks: [{ model: 'claude-opus-4-6', models: ['claude-sonnet-4-6', 'claude-haiku-4-5'] }],
    });
    const id = await fleet.submit('', { title: 'Tried' });
    await page.goto('/settings');
    await button('Edit template').click();
    const template = openDialog().getByRole('textbox', { name: /^Template/ });
    await template.fill('{{nonsense}}');
    await confirm('Save template');
    await openDialog().getByRole('alert').first().waitFor();
    await template.fill('Do this: {{title}}');
    await openDialog()
      .getByLabel(/^Task to try it with/)
      .fill(id);
    await button('Preview prompt').click();
    await openDialog().getByText('Do this: Tried').waitFor();
    await confirm('Save template');
    await page.getByText('The workspace has its own template').waitFor();
    await button('Reset template').click();
    await confirm('Reset template');
    await page.getByText('The workspace uses the template of Drover.').waitFor();
  });

  it('an operator creates a user, resets the password, disables the user, and changes the own password', async () => {
    await page.goto('/users');
    await button('Create user').click();
    await openDialog().getByLabel('Email address').fill('new@example.test');
    await confirm('Create user');
    const password = (await page.locator('pre.foreign').textContent())?.trim() ?? '';
    const login = async (word: string) => {
      const body = JSON.stringify({ email: 'new@example.test', password: word });
      const headers = { 'content-type': 'application/json' };
      const address = `http://127.0.0.1:${fleet.port}/api/v1/auth/login`;
      return (await fetch(address, { method: 'POST', headers, body })).status;
    };
    expect(await login(password)).toBe(200);
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    await rowOf('new@example.test').getByRole('button', { name: 'Reset password' }).click();
    await confirm('Reset password');
    await openDialog().waitFor({ state: 'detached' });
    const other = (await page.locator('pre.foreign').textContent())?.trim() ?? '';
    expect(other).not.toBe(password);
    expect([await login(password), await login(other)]).toEqual([401, 200]);
    await rowOf('new@example.test').getByRole('button', { name: 'Disable' }).click();
    await confirm('Disable user');
    await rowOf('new@example.test').getByRole('button', { name: 'Enable' }).waitFor();
    expect(await login(other)).toBe(401);
    await page.goto('/settings');
    await button('Change password').click();
    await openDialog().getByLabel('Current password').fill('not the password');
    await openDialog().getByLabel('New password').fill('another long password');
    await confirm('Change password');
    await openDialog().getByRole('alert').waitFor();
    await openDialog().getByLabel('Current password').fill('a password that is long enough');
    await confirm('Change password');
    await page.getByText('Password changed').waitFor();
  });

  it('an invitation link leads a person without an account into the workspace', async () => {
    const invite = async (email: string) => {
      await page.goto('/settings');
      await button('Invite member').click();
      await openDialog().getByLabel('Email address').fill(email);
      await openDialog().getByLabel('Role').selectOption('VIEWER');
      await confirm('Invite member');
      return (await page.locator('pre.foreign').textContent())?.trim() ?? '';
    };
    const link = await invite('invited@example.test');
    await button('Copy').waitFor();
    const theirs = await browser.open();
    await theirs.goto(link);
    await theirs.getByText('invites invited@example.test').waitFor();
    expect(theirs.url()).not.toContain('#');
    expect(await listAxeFindingsInAllLooks(theirs)).toEqual([]);
    await theirs.getByLabel('Name').fill('Ann');
    await theirs.getByLabel('Password').fill('a password that is long enough');
    await theirs.getByRole('button', { name: 'Create account' }).click();
    await theirs.getByRole('navigation', { name: 'Pages' }).waitFor();
    await theirs.goto('/settings');
    await theirs.getByRole('row').filter({ hasText: 'invited@example.test' }).waitFor();

    const second = await invite('');
    await rowOf('Anybody with the link').waitFor();
    await theirs.goto(second);
    await theirs.getByRole('button', { name: 'Accept invitation' }).click();
    await theirs
      .getByRole('alert')
      .getByText(/already a member/)
      .waitFor();
    await theirs.getByRole('button', { name: 'Not now' }).click();
    await theirs.getByRole('navigation', { name: 'Pages' }).waitFor();
    await rowOf('Anybody with the link').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Invitation revoked').waitFor();
    await theirs.goto(second);
    await theirs.getByText(/invitation does not exist/).waitFor();
    await theirs.getByRole('button', { name: 'Continue without it' }).click();

    await theirs.goto('/settings');
    await theirs.getByRole('button', { name: 'Leave' }).click();
    await theirs.getByRole('button', { name: 'Leave workspace' }).click();
    await theirs.getByText('You are not a member of a workspace').waitFor();
    await theirs.context().close();
  });

  it('a refused form shows the reason and keeps its input', async () => {
    await page.goto('/webhooks');
    await button('Create webhook').click();
    const [url, events] = [openDialog().getByLabel('URL'), openDialog().getByLabel('Events')];
    await url.fill('https://example.com/hook');
    await events.fill('task.created, task.vanished');
    await confirm('Create webhook');
    await openDialog()
      .getByRole('alert')
      .getByText(/^Events must be/)
      .waitFor();
    expect(await page.locator('.notice').count()).toBe(0);
    expect(await url.inputValue()).toBe('https://example.com/hook');
    await events.fill('task.created');
    await confirm('Create webhook');
    await openDialog().waitFor({ state: 'detached' });
    await page.getByText('Webhook created').waitFor();
  });

  it('an admin sends a test event and replays its delivery', async () => {
    const { port } = receiver.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    const { body } = await fleet.api.post<{ id: string }>('/webhooks', {
      url,
      events: ['task.created'],
    });
    await page.goto(`/webhooks/${body.id}`);
    await button('Send test event').click();
    await page.locator('summary', { hasText: 'webhook.test' }).click();
    await waitFor('the test event', () => received.length === 1);
    await button('Replay delivery').click();
    await waitFor('the replay', () => received.length === 2);
    expect(new Set(received).size).toBe(1);
  });
});
