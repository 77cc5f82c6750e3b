import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { plainGit, TestPlace } from '../../libs/code/git/testing/repositories.js';
import { testSandbox, variablesOf } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { TestFleet } from '../support/fleet.js';
import { ForgeServer } from '../support/forges/forge-server.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';

/** Hosts that are killed at each request with which they change something at a forge. */

const sandbox = await testSandbox();

let fleet: TestFleet;
let place: TestPlace;
let forge: ForgeServer;
let worker: BuiltProcess;
let workers = 0;

beforeAll(async () => {
  fleet = await TestFleet.create();
  place = new TestPlace();
  await fleet.startServer({ FORGE_POLL_SECONDS: '1' });
});

afterEach(async () => {
  await worker?.stop();
  forge?.stop();
});

afterAll(async () => {
  await fleet?.stop();
  place?.remove();
});

interface Change {
  id: string;
  state: string;
  headCommit: string;
  mergedCommit: string | null;
}

async function startWorker(): Promise<void> {
  workers += 1;
  worker = await fleet.startWorker(`code-${workers}`, variablesOf(sandbox!));
}

/** Another host gets the step at once, and not after its lease of 60 s. */
async function endLease(id: string): Promise<void> {
  await fleet.db.owner.query(
    `UPDATE changes SET step_until = now() - interval '1 second' WHERE task_id = $1 AND step_until IS NOT NULL`,
    [id],
  );
}

async function aChange(kind: 'github' | 'gitea', name: string): Promise<string> {
  const { path } = place.repository(`${name}-seed`);
  plainGit(path, 'clone', '-q', '--bare', '.', place.path(`${name}.git`));
  forge = await ForgeServer.start(kind, place.path(`${name}.git`));
  const { body: repository } = await fleet.api.post<{ id: string }>('/repositories', {
    name,
    url: forge.url,
    forge: kind,
    credentials: { kind: 'token', token: forge.token },
  });
  const { status, body } = await fleet.api.post<{ id: string }>('/agent-tasks', {
    title: 'A change',
    taskType: 'test',
    repositoryId: repository.id,
    inputContext: { command: ['bash', '-ec', 'echo two >> a.txt'] },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

const changeOf = async (id: string) => (await fleet.api.get<Change>(`/changes/${id}`)).body;

const until = (id: string, state: string) =>
  waitFor(`the change to be ${state}`, async () => {
    const change = await changeOf(id);
    return change.state === state ? change : undefined;
  });

const CHANGES = /^(?:push|POST|PATCH|PUT) /;

(sandbox === undefined ? describe.skip : describe)('a change at a forge', () => {
  it.each([
    ['github', 'before', 'plain'],
    ['github', 'after', 'plain'],
    ['gitea', 'after', 'plain'],
    ['github', 'after', 'protected'],
  ] as const)(
    'has one pull request and one merge when its hosts are killed: %s, %s each effect, %s target',
    async (kind, when, target) => {
      const id = await aChange(kind, `${kind}-${when}-${target}`);
      if (target === 'protected') forge.model.protect('main');
      const killedAt = new Set<string>();
      let killing: Promise<unknown> | undefined;
      forge.watch = (request, now) => {
        // Pushes of the run are not those of the change's host.
        const isWatched = CHANGES.test(request) && forge.model.pulls.length > 0;
        const isFirst = request.startsWith('POST') && request.endsWith('/pulls');
        const name = request.replaceAll(/[0-9a-f-]{36,}/g, 'X');
        if (killing !== undefined) return 'drop';
        if (now !== when || (!isWatched && !isFirst) || killedAt.has(name)) return undefined;
        killedAt.add(name);
        worker.kill('SIGKILL');
        killing = worker.ended();
        return 'drop';
      };
      /** Starts a host again after each kill, until the change is in a state. */
      const goOnUntil = async (isThere: () => Promise<boolean>): Promise<void> => {
        await waitFor('the change to go on', async () => {
          if (killing !== undefined) {
            await killing;
            await endLease(id);
            killing = undefined;
            await startWorker();
          }
          return isThere();
        });
      };
      await startWorker();
      await goOnUntil(async () => (await changeOf(id)).state === 'IN_REVIEW');
      const { headCommit } = await changeOf(id);
      const said = { body: 'Said here.' };
      await fleet.api.post(`/changes/${id}/comment`, said);
      await goOnUntil(() => Promise.resolve(forge.model.pulls[0]?.comments.length === 1));
      const approved = await fleet.api.post(`/changes/${id}/approve`, { headCommit });
      expect(approved.status).toBe(200);
      await goOnUntil(() =>
        Promise.resolve(
          forge.model.all()[0]?.merged !== undefined &&
            forge.model.git('for-each-ref', '--format=%(refname)') === 'refs/heads/main',
        ),
      );
      await until(id, 'MERGED');
      expect(forge.model.pulls).toHaveLength(1);
      expect(
        forge.model.pulls[0]?.comments.filter(({ body }) => body.includes(said.body)),
      ).toHaveLength(1);
      expect(forge.model.git('log', '--format=%s', 'main').split('\n')).toEqual([
        'A change',
        'A commit',
      ]);
      expect((await changeOf(id)).mergedCommit).toBe(forge.model.commitOf('main'));
      expect(killedAt.size).toBeGreaterThanOrEqual(5);
    },
  );
});
