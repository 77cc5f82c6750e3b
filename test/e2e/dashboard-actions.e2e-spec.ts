import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { createPerson, listAxeFindings, TestBrowser } from './dashboard/browser.js';

/** Questions in the dashboard. */

let fleet: TestFleet;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
  await fleet.startWorker('asking');
  browser = await TestBrowser.start(`http://127.0.0.1:${fleet.port}`);
  page = await browser.openSignedIn(await createPerson(fleet, [fleet.workspaceId]));
});

afterAll(async () => {
  await browser.stop();
  await fleet.stop();
});

const status = (name: string) => page.locator('.page-head .badge', { hasText: name });

/** A program that asks a question, and reports the answer in its next run. */
const ASKING = `
  const { task } = JSON.parse(require('fs').readFileSync(process.env.DROVER_INPUT_FILE, 'utf8'));
  const answer = task.answers?.at(-1)?.answer;
  const ask = { prompt: 'Send it?', choices: ['yes', 'no'], deadlineSeconds: 3600, onDeadline: 'fail' };
  console.log('::drover ' + JSON.stringify(answer ? { result: { sent: answer } } : { ask }));`;

describe('the dashboard', () => {
  it('a member answers a question on the task page, and the task resumes', async () => {
    const id = await fleet.submit(ASKING, { title: 'A letter' });
    await waitFor('the question', async () => (await fleet.task(id))['status'] === 'PAUSED');
    await page.goto(`/tasks/${id}`);
    await page.getByText('Send it?', { exact: true }).first().waitFor();
    expect(await listAxeFindings(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    await page.getByRole('button', { name: 'yes', exact: true }).click();
    await status('Completed').waitFor();
    expect(await fleet.task(id)).toMatchObject({ outputResult: { sent: 'yes' } });
  });

  it('the questions page lists and answers the questions of all tasks', async () => {
    const id = await fleet.submit(ASKING, { title: 'Another letter' });
    await waitFor('the question', async () => (await fleet.task(id))['status'] === 'PAUSED');
    await page.goto('/questions');
    await page.getByText('Another letter').waitFor();
    expect(await listAxeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'no', exact: true }).click();
    await page.getByText('No open questions').waitFor();
    await waitFor(
      'the task to complete',
      async () => (await fleet.task(id))['status'] === 'COMPLETED',
    );
  });
});
