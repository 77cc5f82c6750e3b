import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { TestFleet } from '../support/fleet.js';
import { createPerson, listAxeFindingsInAllLooks, TestBrowser } from './dashboard/browser.js';

/** The form of a task, projects, usage, prices, hooks and notices in the dashboard. */

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
