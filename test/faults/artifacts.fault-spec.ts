import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { checkArtifactFiles } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { type Moment, PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { PullAgent } from './harness/pull-agent.js';
import { expectInvariants } from './harness/verdict.js';

/** Files of this age belong to no upload that goes on. */
const TWO_HOURS_S = 7_200;

let db: TestDatabase;
let fleet: TestFleet;
let server: BuiltProcess;
let proxy: PostgresProxy;
let folder: string;

beforeAll(async () => {
  db = await createTestDatabase();
  proxy = await PostgresProxy.to(db.appUrl);
  fleet = await TestFleet.create({ db, env: { DATABASE_URL: proxy.url } });
  folder = fleet.settings()['ARTIFACTS_DIR'] ?? '';
  server = await fleet.startServer();
});

afterAll(async () => {
  await fleet.stop();
  await proxy.close();
});

interface Run {
  id: string;
  token: string;
}

async function aRun(): Promise<Run> {
  const capability = `only-${newId()}`;
  // No test waits for the end of its agent.
  const agent = await PullAgent.register(fleet, {
    capabilities: [capability],
    heartbeatIntervalSeconds: 60,
    staleThresholdSeconds: 600,
  });
  await fleet.submit('', { requiredCapabilities: [capability] });
  const path = `/agents/${agent.id}/claim`;
  const { body } = await agent.api.post<{ tasks: { run: Run }[] }>(path, { waitMs: 25_000 });
  const [claimed] = body.tasks;
  if (!claimed) throw new Error('there was nothing to claim');
  return claimed.run;
}

const put = ({ id, token }: Run, body: string | ReadableStream) =>
  fetch(`http://127.0.0.1:${fleet.port}/api/v1/runs/${id}/artifacts/report.txt`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
    body,
    duplex: 'half',
  } as RequestInit);

/** The paths of all files that belong to artifacts, or will. */
const files = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => path !== join(folder, 'installation') && statSync(path).isFile());

const check = () => checkArtifactFiles(db.ownerUrl, folder);

/** A body whose second half never arrives. */
function halfABody(): ReadableStream {
  return new ReadableStream({ start: (body) => body.enqueue(Buffer.from('the new ')) });
}

const isBegun = () => files().some((path) => path.includes('/unfinished/') && statSync(path).size);

it.each<[string, Moment['at'] | undefined]>([
  ['while the bytes arrive', undefined],
  ['before its commit', 'before'],
  ['after its commit', 'after-commit'],
])(
  'a server killed in an upload %s: the next one leaves no file without its artifact',
  async (_, at) => {
    const run = await aRun();
    expect((await put(run, 'the old report')).status).toBe(200);
    const caught = at && proxy.catch({ at, statement: 'write_artifact' });
    const broken = put(run, at ? 'the new report' : halfABody()).catch(() => undefined);
    await (caught ? caught.reached : waitFor('the first bytes', isBegun));
    server.kill('SIGKILL');
    await server.ended();
    caught?.drop();
    expect(await broken).toBeUndefined();

    const then = Date.now() / 1_000 - TWO_HOURS_S;
    for (const path of files()) utimesSync(path, then, then);
    expect(await check()).toMatchObject({ holds: false, violations: { length: 1 } });
    server = await fleet.startServer();
    const again = await put(run, 'the new report');
    const { downloadPath } = (await again.json()) as { downloadPath: string };
    await waitFor('the removal of the lost file', async () => (await check()).holds);
    const kept = await fetch(`http://127.0.0.1:${fleet.port}${downloadPath}`);
    expect(await kept.text()).toBe('the new report');
    await expectInvariants(db);
  },
);
