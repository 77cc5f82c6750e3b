import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { TestFleet } from '../support/fleet.js';
import { createPerson, listAxeFindingsInAllLooks, TestBrowser } from './dashboard/browser.js';

/** The filters and the order of the task list, and the command palette. */

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

const rows = () => page.getByRole('row').getByRole('link');
const shown = async (count: number) => {
  await page.getByText(`${count} shown`, { exact: true }).waitFor();
  return rows().allTextContents();
};

describe('the task list', () => {
  it('filters by project, agent, time and ID, and sorts, all in its address', async () => {
    const agentId = newId();
    await fleet.api.put(`/agents/${agentId}`, { name: 'The reader', capabilities: ['command'] });
    const { body: project } = await fleet.api.post<{ id: string }>('/projects', { name: 'Books' });
    const create = (title: string, more: object) =>
      fleet.submit('', { title, taskType: 'nobody', ...more });
    const first = await create('low', { priority: 1, projectId: project.id });
    await create('high', { priority: 9, projectId: project.id });
    const taskId = await create('read', { priority: 5, agentId });
    const { body } = await fleet.api.post<{ token: string }>(`/agents/${agentId}/token`);
    const authorization = `Bearer ${body.token}`;
    const agent = apiClient(`http://127.0.0.1:${fleet.port}`, { authorization });
    await agent.post(`/agents/${agentId}/claim`, { taskId });
    await fleet.db.owner.query(
      "UPDATE agent_tasks SET created_at = now() - interval '3 days' WHERE id = $1",
      [first],
    );
    await page.goto('/tasks');
    await page.getByRole('row').getByRole('link', { name: 'The reader' }).waitFor();
    expect(await shown(3)).toEqual(['read', 'The reader', 'high', 'low']);
    const order = page.getByLabel('Order');
    await order.selectOption('Highest priority first');
    await page.waitForURL(/sort=priority/);
    await rows().first().getByText('high').waitFor();
    expect(await shown(3)).toEqual(['high', 'read', 'The reader', 'low']);
    await page.getByLabel('Project').selectOption('Books');
    expect(await shown(2)).toEqual(['high', 'low']);
    await page.getByLabel('Created').selectOption('Last 24 hours');
    expect(await shown(1)).toEqual(['high']);
    await page.reload();
    expect(await shown(1)).toEqual(['high']);
    await page.getByLabel('Created').selectOption('Any time');
    await order.selectOption('Oldest first');
    await rows().first().getByText('low').waitFor();
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Agent').selectOption('The reader');
    expect(await shown(1)).toEqual(['read', 'The reader']);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await shown(3);
    await page.getByLabel('Search title, description or ID').fill(first.slice(0, 30));
    await page.keyboard.press('Enter');
    await shown(1);
    await page.getByLabel('Search title, description or ID').fill(first.slice(0, 4));
    await page.keyboard.press('Enter');
    await shown(3);
  });

  it('a saved view comes back after a reload, and is renamed and deleted', async () => {
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const dialog = page.locator('dialog[open]');
    const named = async (open: string, name: string) => {
      await button(open).click();
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByRole('button', { name: open }).click();
    };
    const view = (name: string) =>
      page.getByRole('navigation', { name: 'Saved views' }).getByRole('link', { name });
    await page.goto('/tasks?status=PENDING&status=FAILED&sort=oldest');
    await named('Save view', ' Old work ');
    await button('Rename view').waitFor();
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    await page.goto('/tasks?priority=9');
    await named('Save view', 'Urgent');
    await view('Old work').click();
    await page.waitForURL(/status=PENDING&status=FAILED/);
    expect(await page.getByLabel('Order').inputValue()).toBe('oldest');
    await named('Rename view', 'Urgent');
    await dialog.getByRole('alert').getByText('Another view has this name.').waitFor();
    await dialog.getByLabel('Name').fill('Backlog');
    await dialog.getByRole('button', { name: 'Rename view' }).click();
    await view('Backlog').waitFor();
    await page.goto('/agents');
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox').fill('urg');
    await page.keyboard.press('Enter');
    await page.waitForURL(/tasks.*priority=9/);
    await button('Delete view').click();
    await dialog.getByRole('button', { name: 'Delete view' }).click();
    await view('Urgent').waitFor({ state: 'detached' });
    await view('Backlog').waitFor();
  });

  it('Ctrl-K finds pages, agents, projects, schedules, actions, and tasks by title or ID', async () => {
    const id = await fleet.submit('', { title: 'A needle', taskType: 'nobody' });
    const tasks = [{ taskType: 'test' }];
    await fleet.api.post('/schedules', { name: 'nightly', everySeconds: 86_400, tasks });
    await page.goto('/');
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    // A closed dialog has no role, and is still there.
    const palette = page.locator('dialog.palette');
    const search = palette.getByRole('combobox');
    const find = async (text: string, option: string) => {
      await page.keyboard.press('Control+k');
      await search.fill(text);
      await palette.getByRole('option', { name: option }).waitFor();
    };
    await find('needle', 'A needle');
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/tasks/*${id}`);
    await palette.waitFor({ state: 'detached' });
    await find(id.slice(0, 30), 'A needle');
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    await find('reader', 'The reader');
    await palette.getByRole('option', { name: 'The reader' }).click();
    await page.waitForURL('**/agents/*');
    await find('books', 'Books');
    await search.fill('nightly');
    await palette.getByRole('option', { name: 'nightly' }).click();
    await page.waitForURL('**/schedules/*');
    await find('s', 'Schedules');
    const chosen = palette.locator('[aria-selected=true]');
    const name = await chosen.textContent();
    await page.keyboard.press('ArrowDown');
    expect(await chosen.textContent()).not.toBe(name);
    await search.fill('create t');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/tasks/new');
    await page.keyboard.press('Control+k');
    await search.fill('nothing is named like this');
    await palette.getByText('Nothing matches').waitFor();
  });

  it('no page logs an error', () => {
    expect(browser.errors).toEqual([]);
  });
});
