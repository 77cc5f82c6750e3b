import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
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

/** The name of an artifact with the whole of a text. */
const WHOLE = '.drover/transcript/1.txt';

/** A live run of a coding agent, which a client of the API plays. */
async function aConversation() {
  const agentId = newId();
  const capabilities = ['command', 'kind:codex'];
  await fleet.api.put(`/agents/${agentId}`, { name: agentId, capabilities });
  const { body } = await fleet.api.post<{ token: string }>(`/agents/${agentId}/token`);
  const agent = apiClient(`http://127.0.0.1:${fleet.port}`, {
    authorization: `Bearer ${body.token}`,
  });
  const task = { title: 'A haiku', taskType: 'agent', agent: { kind: 'codex' }, agentId };
  const { body: created } = await fleet.api.post<{ id: string }>('/agent-tasks', task);
  const { body: claim } = await agent.post<{ tasks: { run: { id: string } }[] }>(
    `/agents/${agentId}/claim`,
    { waitMs: 10_000 },
  );
  const runId = String(claim.tasks[0]?.run.id);
  return { taskId: created.id, runId, agent, token: body.token };
}

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

  it('the page of a task with a coding agent is a conversation', async () => {
    const { taskId, runId, agent, token } = await aConversation();
    const log = (event: string, message: string) => ({ event, message, level: 'INFO' });
    const entries = [
      log('agent_message', 'I write the haiku.'),
      log('agent_tool', 'Write haiku.txt'),
      { ...log('agent_tool_result', 'written …'), details: { artifact: WHOLE } },
      log('agent_diff', 'haiku.txt\n+queues'),
    ];
    await agent.post(`/runs/${runId}/logs`, { entries });
    const artifact = `/api/v1/runs/${runId}/artifacts/${encodeURIComponent(WHOLE)}`;
    const kept = await fetch(`http://127.0.0.1:${fleet.port}${artifact}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
      body: 'written by the agent',
    });
    expect(kept.status).toBe(200);
    await page.goto(`/tasks/${taskId}`);
    const conversation = page.getByRole('list', { name: 'Conversation with the agent' });
    await conversation.getByText('I write the haiku.').waitFor();
    const added = conversation.locator('.diff-code-insert', { hasText: 'queues' });
    expect(await added.isVisible()).toBe(false);
    await conversation.getByText('Write haiku.txt').click();
    await added.waitFor();
    const [whole] = await Promise.all([
      page.waitForEvent('download'),
      conversation.getByRole('button', { name: 'Download the whole text' }).click(),
    ]);
    expect(await readFile(await whole.path(), 'utf8')).toBe('written by the agent');
    expect(await page.getByRole('link', { name: WHOLE }).count()).toBe(0);
    expect(await listAxeFindings(page)).toEqual([]);

    await page.getByLabel('Message to the agent').fill('Shorter, please.');
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('5, 7, 5') };
    await page.getByLabel('Files for the agent').setInputFiles(notes);
    await page.getByRole('button', { name: 'Send message' }).click();
    await page.getByText('1 message waits for the end of the turn').waitFor();
    const path = `/runs/${runId}/messages`;
    const { body } = await fleet.api.get<{ items: unknown[] }>(path);
    const data = { attachments: expect.any(String) };
    expect(body.items).toMatchObject([{ text: 'Shorter, please.', deliver: 'turn_end', data }]);
    await agent.post(`${path}/delivered`, { positions: [1] });
    await conversation.getByText('Shorter, please.').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      conversation.getByRole('link', { name: 'notes.txt' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toBe('5, 7, 5');
    const send = page.getByRole('button', { name: 'Send message' });
    expect(await send.isDisabled()).toBe(true);
    await page.getByLabel('Files for the agent').setInputFiles(notes);
    await send.click();
    await waitFor('the message of files alone', async () => {
      const [, second] = (await fleet.api.get<{ items: unknown[] }>(path)).body.items;
      if (second !== undefined) expect(second).toMatchObject({ text: '', data });
      return second !== undefined;
    });
    await agent.post(`${path}/delivered`, { positions: [2] });

    const ask = { prompt: 'May I push?', choices: ['allow once', 'deny'], default: 'deny' };
    const question = { ...ask, deadlineSeconds: 600, onDeadline: 'default', runWaits: true };
    await agent.post(`/runs/${runId}/questions`, question);
    await page.getByRole('button', { name: 'allow once' }).click();
    await waitFor('the answer', async () => {
      const { body: page } = await fleet.api.get<{ items: { type: string }[] }>(path);
      return page.items.some(({ type }) => type === 'answer');
    });
    await agent.post(`/runs/${runId}/complete`, {});
  });

  it('an owner adds and removes the MCP servers of a project', async () => {
    const { body } = await fleet.api.post<{ id: string }>('/projects', { name: 'Poems' });
    await page.goto('/settings');
    await page.getByRole('button', { name: 'Add MCP server' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[name=name]').fill('issues');
    await dialog.getByLabel('Address or command').fill('https://mcp.example.com/mcp');
    await dialog.getByLabel('Headers or variables').fill('Authorization=Bearer a=b');
    await dialog.getByRole('button', { name: 'Add MCP server' }).click();
    await page.getByText('https://mcp.example.com/mcp').waitFor();
    expect(await listAxeFindings(page)).toEqual([]);
    const servers = async () =>
      (await fleet.api.get<{ mcpServers: object[] }>(`/projects/${body.id}`)).body.mcpServers;
    expect(await servers()).toEqual([
      {
        name: 'issues',
        url: 'https://mcp.example.com/mcp',
        headers: { Authorization: '[redacted]' },
      },
    ]);
    await page.getByRole('button', { name: 'Remove the MCP server issues' }).click();
    await page.getByText('The project has no MCP servers.').waitFor();
    expect(await servers()).toEqual([]);
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
