import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { patiently } from './harness/patience.js';
import { PrivatePostgres } from './harness/private-postgres.js';
import { mayMount, SmallDisk } from './harness/small-disk.js';
import { expectInvariants } from './harness/verdict.js';

const describeAsRoot = mayMount ? describe : describe.skip;

describeAsRoot('a database on a disk that is full', () => {
  let postgres: PrivatePostgres;
  let disk: SmallDisk;
  let db: TestDatabase;
  let fleet: TestFleet;

  beforeAll(async () => {
    postgres = await PrivatePostgres.start();
    db = await postgres.newDatabase();
    disk = await SmallDisk.mount(64, await postgres.user());
    const name = new URL(db.ownerUrl).pathname.slice(1);
    await postgres.asAdmin(
      `CREATE TABLESPACE small LOCATION '${disk.folder}'`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
      `ALTER DATABASE ${name} SET TABLESPACE small`,
    );
    fleet = await TestFleet.create({ db });
    await fleet.startServer();
  });

  afterAll(async () => {
    await fleet.stop();
    await postgres.close();
    await disk.unmount();
  });

  const readiness = async () => (await fetch(`http://127.0.0.1:${fleet.port}/readyz`)).status;

  /** The content is too large for the free space that others left. */
  const create = () =>
    fleet.api.post('/agent-tasks', {
      title: 'x',
      taskType: 'fault',
      description: randomBytes(4_000).toString('hex'),
    });

  it('a server with a full disk answers 503 and is not ready until there is room', async () => {
    expect(await readiness()).toBe(200);
    await disk.fill();
    const refused = await waitFor('a refusal', async () => {
      const answer = await create();
      return answer.status !== 201 && answer;
    });
    expect(refused).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await readiness()).toBe(503);
    await disk.empty();
    await waitFor('it to be ready', async () => (await readiness()) === 200);
    expect((await patiently(create)).status).toBe(201);
    await expectInvariants(db);
  });
});
