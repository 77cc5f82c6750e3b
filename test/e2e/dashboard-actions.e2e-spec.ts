import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { aPerson, findingsOn, TestBrowser } from './dashboard/browser.js';

/** What people do in the dashboard beside making tasks. */

let fleet: TestFleet;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  fleet = await TestFleet.create();
  await fleet.startServer();
  await fleet.startWorker('asking');
  browser = await TestBrowser.start(`http://127.0.0.1:${fleet.port}`);
  page = await browser.signedIn(await aPerson(fleet, [fleet.workspaceId]));
});

afterAll(async () => {
  await browser.stop();
  await fleet.stop();
});

const status = (name: string) => page.locator('.page-head .badge', { hasText: name });

/** Asks people, and says what they answered. */
const ASKING = `
  const { task } = JSON.parse(require('fs').readFileSync(process.env.DROVER_INPUT_FILE, 'utf8'));
  const answer = task.answers?.at(-1)?.answer;
  const ask = { prompt: 'Send it?', choices: ['yes', 'no'], deadlineSeconds: 3600, onDeadline: 'fail' };
  console.log('::drover ' + JSON.stringify(answer ? { result: { sent: answer } } : { ask }));`;

describe('a person', () => {
  it('answers the question of a task, which goes on with it', async () => {
    const id = await fleet.submit(ASKING, { title: 'A letter' });
    await waitFor('the question', async () => (await fleet.task(id))['status'] === 'PAUSED');
    await page.goto(`/tasks/${id}`);
    await page.getByText('Send it?', { exact: true }).first().waitFor();
    expect(await findingsOn(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    await page.getByRole('button', { name: 'yes', exact: true }).click();
    await status('Completed').waitFor();
    expect(await fleet.task(id)).toMatchObject({ outputResult: { sent: 'yes' } });
  });

  it('finds the questions of all tasks in one place', async () => {
    const id = await fleet.submit(ASKING, { title: 'Another letter' });
    await waitFor('the question', async () => (await fleet.task(id))['status'] === 'PAUSED');
    await page.goto('/questions');
    await page.getByText('Another letter').waitFor();
    expect(await findingsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'no', exact: true }).click();
    await page.getByText('Nobody waits for an answer').waitFor();
    await waitFor('its end', async () => (await fleet.task(id))['status'] === 'COMPLETED');
  });
});
