import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { testSandbox, variablesOf } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';

const REPOSITORY = join(import.meta.dirname, '../..');
const DROVER = join(REPOSITORY, 'dist/apps/cli/main.js');
const sandbox = await testSandbox();

(sandbox === undefined ? describe.skip : describe)('A worker that allows the network', () => {
  let fleet: TestFleet;
  let projectId: string;

  beforeAll(async () => {
    fleet = await TestFleet.atSharedServer();
    const { body } = await fleet.api.post<{ id: string }>('/projects', { name: 'P' });
    projectId = body.id;
    const own = { DROVER_SANDBOX_NETWORK: 'host', DROVER_SANDBOX_SHOW: REPOSITORY };
    await fleet.startWorker('open', { ...variablesOf(sandbox!), ...own });
  });

  afterAll(() => fleet?.stop());

  const setWorkspace = (network: string) =>
    fleet.api.patch(`/workspaces/${fleet.workspaceId}`, { network });
  const setProject = (network: string) => fleet.api.patch(`/projects/${projectId}`, { network });

  /** What a task finds: the server's own port, and the API at DROVER_API_URL with its run token. */
  function findings(values: { network?: string; projectId?: string }) {
    const { network, ...task } = values;
    const script = `
      const { DROVER_API_URL: url, DROVER_RUN_TOKEN: token } = process.env;
      const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
      const body = JSON.stringify({ progressPercent: 50 });
      const path = url + '/runs/' + process.env.DROVER_RUN_ID + '/progress';
      const ask = (to, options) => fetch(to, options).then(({ status }) => status, () => 'refused');
      Promise.all([
        ask('http://127.0.0.1:${fleet.port}/healthz'),
        ask(path, { method: 'PATCH', headers, body }),
      ]).then(([port, api]) => console.log('::drover ' + JSON.stringify({ result: { port, api } })));`;
    return resultOf(script, network, task);
  }

  async function resultOf(script: string, network?: string, task: object = {}) {
    const command = [process.execPath, '-e', script];
    const id = await fleet.submit('', { ...task, inputContext: { command, network } });
    const done = await waitFor('the task to end', async () => {
      const found = await fleet.task(id);
      return ['COMPLETED', 'FAILED'].includes(String(found['status'])) && found;
    });
    return done['outputResult'];
  }

  const CUT_OFF = { port: 'refused', api: 200 };
  const OPEN = { port: 200, api: 200 };

  test('gives it to a task only if workspace, project and task have it', async () => {
    expect(await findings({ network: 'host' })).toEqual(CUT_OFF);
    expect((await setWorkspace('host')).status).toBe(200);
    expect(await findings({ network: 'host' })).toEqual(OPEN);
    expect(await findings({})).toEqual(CUT_OFF);
    expect(await findings({ network: 'host', projectId })).toEqual(CUT_OFF);
    expect((await setProject('host')).body).toMatchObject({ network: 'host' });
    expect(await findings({ network: 'host', projectId })).toEqual(OPEN);
    await setWorkspace('none');
    expect(await findings({ network: 'host', projectId })).toEqual(CUT_OFF);
  });

  test('a task without the network uses the tools for models, and drover', async () => {
    const script = `
      const { DROVER_API_URL: url, DROVER_RUN_TOKEN: token, DROVER_RUN_ID: run } = process.env;
      const accept = 'application/json, text/event-stream';
      const type = 'application/json';
      const headers = { authorization: 'Bearer ' + token, accept, 'content-type': type };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      const { spawnSync } = require('node:child_process');
      const drover = [${JSON.stringify(DROVER)}, 'api', 'GET', '/runs/' + run + '/budget'];
      fetch(url + '/../../mcp', { method: 'POST', headers, body }).then(async (answer) => {
        const { result } = await answer.json();
        const tools = result.tools.map(({ name }) => name);
        const { status, stdout } = spawnSync(process.execPath, drover, { encoding: 'utf8' });
        const isOwn = JSON.parse(stdout).runId === run;
        console.log('::drover ' + JSON.stringify({ result: { tools, status, isOwn } }));
      });`;
    expect(await resultOf(script, 'none')).toEqual({
      tools: expect.arrayContaining(['get_task', 'report_progress', 'ask_person']),
      status: 0,
      isOwn: true,
    });
  });
});
