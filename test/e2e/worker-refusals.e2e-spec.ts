import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import { anAgent, aWorkspace } from '../support/factories.js';
import { TestFleet } from '../support/fleet.js';
import { Program } from './program.js';

/** The error of a worker that cannot continue names the setting or file to correct. */

const WORKER = join(process.cwd(), 'dist/apps/worker/main.js');

let fleet: TestFleet;
let key: string;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
  key = await aKey(['agents:write']);
});

afterAll(() => fleet.stop());

const url = () => `http://127.0.0.1:${fleet.port}`;

async function aKey(scopes: string[]): Promise<string> {
  const path = `/workspaces/${fleet.workspaceId}/api-keys`;
  const { body } = await fleet.api.post(path, { name: 'workers', role: 'MEMBER', scopes });
  return String(body.key);
}

/** Returns the last sentence of a worker that ends by itself. */
async function lastWords(env: Record<string, string>, folder = newFolder()): Promise<string> {
  const worker = new Program(WORKER, [], {
    DROVER_API_URL: url(),
    DROVER_WORKER_NAME: 'refused',
    DROVER_WORKER_DATA_DIR: folder,
    ...env,
  });
  expect(await worker.ended).toBe(1);
  const line = worker.output.trim().split('\n').at(-1) ?? '';
  return String((JSON.parse(line) as { message: string }).message);
}

function newFolder(): string {
  const folder = join(fleet.folder, newId());
  mkdirSync(folder);
  return folder;
}

describe('a worker with a wrong setting', () => {
  it.each([
    ['a key that nobody made', () => `drv_${'0'.repeat(8)}_${'0'.repeat(64)}`],
    ['something else as a key', () => 'open sesame'],
  ])('a worker with %s names the variable and the server', async (_, wrong) => {
    const words = await lastWords({ DROVER_API_KEY: wrong() });
    expect(words).toContain('does not accept the key in DROVER_API_KEY');
    expect(words).toContain(url());
  });

  it('a worker with a key for another purpose says which key it needs', async () => {
    const words = await lastWords({ DROVER_API_KEY: await aKey(['tasks:read']) });
    expect(words).toMatch(/^The key in DROVER_API_KEY cannot .*agents:write/);
  });

  it('a worker with the token of another installation names the source of the token', async () => {
    const file = join(newFolder(), 'token');
    writeFileSync(file, 'a.b.c');
    const id = { DROVER_AGENT_ID: newId() };
    expect(await lastWords({ ...id, DROVER_AGENT_TOKEN: 'a.b.c' })).toContain(
      'DROVER_AGENT_TOKEN ',
    );
    expect(await lastWords({ ...id, DROVER_AGENT_TOKEN_FILE: file })).toContain(
      `the token in ${file} (DROVER_AGENT_TOKEN_FILE)`,
    );
  });

  it('a worker with the token of another agent names the agent of DROVER_AGENT_ID', async () => {
    const stranger = await anAgent(fleet.db.owner, await aWorkspace(fleet.db.owner));
    const agentId = await anAgent(fleet.db.owner, fleet.workspaceId);
    const { body } = await fleet.api.post(`/agents/${agentId}/token`, {});
    const token = { DROVER_AGENT_TOKEN: String(body.token) };
    const named = await lastWords({ ...token, DROVER_AGENT_ID: stranger });
    expect(named).toContain(`The agent ${stranger} of DROVER_AGENT_ID`);
  });

  it.each(['not JSON', '{}', '{"owner": 7}'])(
    'a worker with the state file %s names the file',
    async (text) => {
      const folder = newFolder();
      const id = newId();
      const file = join(folder, `agent-${id}.json`);
      writeFileSync(join(folder, 'worker-refused.id'), id);
      writeFileSync(file, text);
      expect(await lastWords({ DROVER_API_KEY: key }, folder)).toMatch(
        new RegExp(`^The state file ${file} cannot be read .*: remove it to start afresh.$`),
      );
      expect(readdirSync(folder)).toContain(`agent-${id}.json`);
    },
  );
});
