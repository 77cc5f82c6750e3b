import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { agentProgram } from '../../../../test/support/agent-programs.js';
import { type ModelServer, startModelServer } from '../../../../test/support/model-server/index.js';
import { PIXEL } from '../../../../test/support/pixel.js';
import type { AgentContext, McpServer } from '../index.js';
import { AgentRun } from '../testing/agent-run.js';
import { aGreeter } from '../testing/greeter.js';
import { aContext } from '../testing/kind-conformance.js';
import { codex } from './codex.js';

let program: string[];
let folder: string;
let server: ModelServer | undefined;
beforeAll(async () => {
  program = await agentProgram(codex);
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codex-')));
}, 180_000);
afterEach(() => server?.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const greeter: McpServer = { ...aGreeter('Good morning', '${GREETING}'), isTrusted: false };

type Script = Parameters<typeof startModelServer>[0];

async function start(place: string, script: Script, changes: Partial<AgentContext> = {}) {
  server = await startModelServer(script);
  const workDir = join(folder, place, 'work');
  mkdirSync(workDir, { recursive: true });
  const stateDir = join(folder, place, 'state');
  const modelProxy = { url: server.url, token: 'token-of-the-run' };
  return new AgentRun(codex, aContext({ program, workDir, stateDir, modelProxy, ...changes }));
}

describe('the real Codex', () => {
  it('it writes a file, and its conversation continues elsewhere from its state files', async () => {
    const script = [
      { calls: [{ write: 'hello.txt', content: 'hello\n' }] },
      { text: 'The file is written.' },
      { text: 'The same conversation.' },
    ];
    const first = await start('first', script);
    expect(await first.end).toEqual({ kind: 'done', summary: 'The file is written.' });
    expect(readFileSync(join(folder, 'first/work/hello.txt'), 'utf8')).toBe('hello\n');
    const { id } = await first.until('session');
    await server?.close();

    const home = join(folder, 'first/state');
    const kept = codex.stateFiles(id).flatMap((glob) => globSync(glob, { cwd: home }));
    expect(kept).toHaveLength(1);
    for (const file of kept) {
      const copy = join(folder, 'second/state', file);
      mkdirSync(dirname(copy), { recursive: true });
      cpSync(join(home, file), copy);
    }
    rmSync(home, { recursive: true });
    const second = await start('second', script, { resume: id, prompt: 'Continue.' });
    // Only a model that sees the earlier messages comes to the third answer.
    expect(await second.end).toEqual({ kind: 'done', summary: 'The same conversation.' });
    expect((await second.until('session')).id).toBe(id);
    expect(existsSync(home)).toBe(false);
  });

  it.each([
    ['auto', undefined, true],
    ['ask', 'allow', true],
    ['ask', 'deny', false],
    ['read-only', undefined, false],
  ] as const)(
    'it starts a server of tools, and calls one in the mode %s with the decision %s: %s',
    async (permissionMode, decision, ok) => {
      const script = [{ calls: [{ tool: 'greet', input: { name: 'Ada' } }] }, { text: 'Greeted.' }];
      // The models of OpenAI get these tools only after a search, which no script can do.
      const changes = { model: 'another', permissionMode, mcpServers: [greeter] };
      const run = await start(`tools-${permissionMode}-${decision}`, script, changes);
      if (decision !== undefined) {
        const { id, ...asked } = await run.until('permission');
        expect(asked).toMatchObject({ tool: 'mcp__greeter__greet', category: 'other' });
        run.conversation.decide(id, decision);
      }
      expect(await run.end).toMatchObject({ kind: 'done', summary: 'Greeted.' });
      const greeting = { ok: true, output: 'Good morning, "Ada"! $HOME " ${GREETING}' };
      expect(run.all('tool_result')).toMatchObject([ok ? greeting : { ok: false }]);
    },
  );

  it('it tells that a server of tools does not start', async () => {
    const missing = { ...greeter, command: '/no/such/program' };
    const run = await start('no-server', [{ text: 'Alone.' }], { mcpServers: [missing] });
    expect(await run.end).toMatchObject({ kind: 'done' });
    const text = expect.stringMatching(/^The MCP server greeter does not work: /);
    expect(run.all('notice')).toContainEqual({ type: 'notice', level: 'warning', text });
  });

  it('its model sees an attached picture', async () => {
    const path = join(folder, 'a.png');
    const content = Buffer.from(PIXEL, 'base64');
    writeFileSync(path, content);
    const images = [{ path, mediaType: 'image/png', content }];
    const run = await start('picture', [{ text: 'It is one pixel.' }], { images });
    expect(await run.end).toMatchObject({ kind: 'done' });
    const [asked] = server!.requests.filter(({ path: asked }) => asked.endsWith('/responses'));
    expect(JSON.stringify(asked!.body)).toMatch(
      /"input_image","image_url":"data:image\/png;base64,/,
    );
  });

  it('an interrupt ends a turn in the middle of its stream', async () => {
    const script = [{ text: 'One two three four.', chunks: 4, hangAfter: 3 }];
    const run = await start('interrupt', script);
    await run.until('message');
    run.conversation.interrupt();
    expect(await run.end).toEqual({ kind: 'interrupted' });
  });

  it('it makes one request, with the key of the run, of a provider that refuses', async () => {
    const run = await start('refused', [{ fails: { status: 403 } }]);
    expect(await run.end).toMatchObject({ kind: 'failed', class: 'denied' });
    const keys = server!.requests.map(({ headers }) => headers.authorization);
    expect(keys).toEqual(['Bearer token-of-the-run']);
  });
});
