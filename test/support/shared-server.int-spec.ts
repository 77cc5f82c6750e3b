import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { waitFor } from './wait-for.js';
import { sharedServer } from './shared-server.js';

/** No other file uses this worker name, so the test can end its server. */
const WORKER = 'of-this-file';

describe('a shared server', () => {
  it('a worker has one shared server for each set of roles', async () => {
    const first = await sharedServer('api', WORKER);
    const second = await sharedServer('api', WORKER);
    const all = await sharedServer('all', WORKER);
    expect([second.pid, second.db.appUrl]).toEqual([first.pid, first.db.appUrl]);
    expect(all.pid).not.toBe(first.pid);
    expect(all.db.appUrl).not.toBe(first.db.appUrl);
    await Promise.all([first.stop(), second.stop(), all.stop()]);
  });

  it('a shared server accepts requests of the workspaces that a file creates', async () => {
    const server = await sharedServer('api', WORKER);
    const workspace = await server.newWorkspace();
    const agent = await workspace.newAgent();
    expect((await workspace.api.get(`/agents/${agent.id}`)).status).toBe(200);
    expect((await agent.api.get(`/agents/${agent.id}`)).status).toBe(200);
    await server.stop();
  });

  it('an open transaction in a shared server fails the file that leaves it', async () => {
    const server = await sharedServer('api', WORKER);
    const client = new pg.Client({ connectionString: server.db.ownerUrl });
    await client.connect();
    await client.query('BEGIN');
    await expect(server.stop(1_000)).rejects.toThrow('The database was left with');
    await client.end();
  });

  it('a shared server that has ended fails its file, and the next file has a new one', async () => {
    const server = await sharedServer('api', WORKER);
    process.kill(server.pid, 'SIGKILL');
    const next = await waitFor('another server', async () => {
      const found = await sharedServer('api', WORKER);
      if (found.pid !== server.pid) return found;
      await found.db.close();
      return undefined;
    });
    await expect(server.stop()).rejects.toThrow('fetch failed');
    expect((await fetch(`${next.url}/healthz`)).status).toBe(200);
    await next.stop();
  });
});
