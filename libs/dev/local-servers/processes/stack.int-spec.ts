import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closed } from '../../../../test/support/closed.js';
import type { Stack } from './stack.js';
import { beginStack, startStack } from './stack.js';
import { Supervisor } from './supervisor.js';
import type { Child } from '../testing/child.js';
import { askValkey, CompiledLibrary, gone, isAlive } from '../testing/child.js';
import { startEmbeddedValkey } from '../valkey/valkey.js';

interface Told {
  pids: number[];
  dataDir: string;
}

const STACK = `
  const stack = lib.beginStack({ valkey: { url: '' } });
  scope.add(stack.stop);
  const { postgres, valkey, dataDir } = await stack.ready;
  tell({ pids: [postgres.pid, valkey.pid], dataDir });
  await new Promise((resolve) => setTimeout(resolve, 60_000));
`;

let library: CompiledLibrary;
let scratch: string;

beforeAll(async () => {
  library = await CompiledLibrary.make();
  scratch = await mkdtemp(join(tmpdir(), 'drover-embedded-spec-'));
});

afterAll(async () => {
  await library.remove();
  await rm(scratch, { recursive: true, force: true });
});

function runStack(): Promise<Child> {
  return library.run(`await lib.withCleanup(async (scope) => { ${STACK} });`);
}

async function temporaryFolders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => /^drover-[0-9a-f]{12}$/.test(name));
}

function pidsOf({ postgres, valkey }: Stack): number[] {
  return [postgres.pid, 'pid' in valkey ? valkey.pid : 0];
}

describe('startStack', () => {
  it('a stack runs both servers and leaves neither processes nor data', async () => {
    const stack = await startStack({ valkey: { url: '' } });
    expect(await askValkey(stack.valkey.url, 'PING')).toBe('+OK\r\n+PONG\r\n');
    await stack.stop();
    await stack.stop();
    expect(pidsOf(stack).filter(isAlive)).toEqual([]);
    expect(existsSync(stack.dataDir)).toBe(false);
  });

  it('a stack can be stopped during its start', async () => {
    const before = await temporaryFolders();
    const stack = beginStack({ valkey: { url: '' } });
    await stack.stop();
    await expect(stack.ready).rejects.toMatchObject({ code: 'stopped' });
    expect(await temporaryFolders()).toEqual(before);
  });

  it('an aborted signal cancels the start', async () => {
    const before = await temporaryFolders();
    const abort = new AbortController();
    const log = (): void => {
      abort.abort();
    };
    const stack = beginStack({ valkey: { url: '' }, signal: abort.signal, log });
    await expect(stack.ready).rejects.toMatchObject({ code: 'stopped' });
    await stack.stop();
    expect(await temporaryFolders()).toEqual(before);
  });

  it('a stack ends with a parent that is killed', async () => {
    const child = await runStack();
    const { pids, dataDir } = await child.told<Told>();
    child.kill('SIGKILL');
    await gone(dataDir);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'a stack is cleaned up on %s to the group',
    async (signal) => {
      const child = await runStack();
      const { pids, dataDir } = await child.told<Told>();
      child.signalGroup(signal);
      child.signalGroup(signal);
      expect(await child.exited).toEqual({ code: signal === 'SIGINT' ? 130 : 143, signal: null });
      expect(pids.filter(isAlive)).toEqual([]);
      expect(existsSync(dataDir)).toBe(false);
    },
  );

  it('a stack ends its servers when the supervisor is killed', async () => {
    const supervisor = await Supervisor.start();
    const { port } = await startEmbeddedValkey({ supervisor, dataDir: scratch });
    const connection = connect(port, '127.0.0.1');
    await once(connection, 'connect');
    const lost = closed(connection);
    process.kill(supervisor.pid, 'SIGKILL');
    await lost;
    await supervisor.close();
  });

  it('a lost server is reported', async () => {
    let lost = (_message: string): void => undefined;
    const message = new Promise<string>((resolve) => (lost = resolve));
    const stack = await startStack({ valkey: { url: '' }, onLost: (text) => lost(text) });
    process.kill(pidsOf(stack)[1] ?? 0, 'SIGKILL');
    expect(await message).toMatch(/^(Valkey|Redis) .* ended\.$/);
    await stack.stop();
  });
});
