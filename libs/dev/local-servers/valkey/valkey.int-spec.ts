import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askValkey, isAlive } from '../testing/child.js';
import { resolveValkey, startEmbeddedValkey } from './valkey.js';

let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'drover-embedded-spec-'));
});

afterAll(async () => {
  await rm(scratch, { recursive: true, force: true });
});

describe('startEmbeddedValkey', () => {
  it('several servers start at once, each with a password, and stop', async () => {
    const servers = await Promise.all([startEmbeddedValkey(), startEmbeddedValkey()]);
    for (const server of servers) {
      expect(await askValkey(server.url, 'PING')).toBe('+OK\r\n+PONG\r\n');
      const url = new URL(server.url);
      url.password = 'guess';
      expect(await askValkey(url.href, 'PING')).toMatch(/^-WRONGPASS.*\r\n-NOAUTH/);
    }
    await Promise.all(servers.map((server) => server.stop()));
    expect(servers.filter((server) => isAlive(server.pid))).toEqual([]);
  });

  it('a server saves nothing by default', async () => {
    const dataDir = join(scratch, 'plain');
    const server = await startEmbeddedValkey({ dataDir });
    await askValkey(server.url, 'SET key value');
    await server.stop();
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('a server with appendOnly keeps its data', async () => {
    const options = { dataDir: join(scratch, 'kept'), appendOnly: true };
    const first = await startEmbeddedValkey(options);
    await askValkey(first.url, 'SET key value');
    await first.stop();
    const second = await startEmbeddedValkey(options);
    expect(await askValkey(second.url, 'GET key')).toContain('value');
    await second.stop();
    expect(existsSync(options.dataDir)).toBe(true);
  });

  it('a port in use is reported', async () => {
    const server = await startEmbeddedValkey();
    await expect(startEmbeddedValkey({ port: server.port })).rejects.toMatchObject({
      code: 'port_taken',
      message: `Port ${String(server.port)} of 127.0.0.1 is taken: stop what listens there, or choose another port.`,
    });
    await server.stop();
  });
});

describe('resolveValkey', () => {
  it('an external server stays unchanged', async () => {
    const url = 'redis://example.test:6379/3';
    const server = await resolveValkey({ url });
    await server.stop();
    expect(server.url).toBe(url);
    expect(server).not.toHaveProperty('pid');
  });
});
