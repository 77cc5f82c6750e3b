import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeWorkFolder, Mirror, RunRepository, Snapshots, withRemote } from '#lib/git';
import { findBubblewrap } from '#lib/local-servers';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, latenciesOf, latencyFigures, type Measured } from '../harness/figure.js';
import type { Program } from '../harness/program.js';
import type { Rig } from '../harness/rig.js';
import type { Site } from '../harness/site.js';

const FILES = 50_000;
const WORKTREES = 3;
const CHANGES = 10;
const QUEUED = 50;
/** Finished changes, among which a new one costs the same. */
const FINISHED = 2_000;
const LOOK_MS = 20;

/**
 * Measures work on code beside plain git on the same machine: a working folder of a large repository
 * beside `git worktree add`, the time of a change from its submission to its merge without
 * acceptance, also beside 2,000 finished ones, and the merge of many approved changes whose
 * acceptance takes 1 s.
 */
export const codeWork: Benchmark = {
  name: 'code-work',
  what: 'working folders of 50,000 files, changes from submission to merge, and a queue of 50',
  async run(rig) {
    const folder = await mkdtemp(join(tmpdir(), 'drover-code-work-'));
    try {
      const worktrees = await measureWorktrees(folder);
      const shop = await Shop.open(rig, folder);
      try {
        return [...worktrees, await shop.measureShare(), await shop.measureQueue()].flat();
      } finally {
        await shop.close();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function plainGit(cwd: string, ...args: string[]): string {
  const who = ['-c', 'user.name=Pat', '-c', 'user.email=pat@example.com'];
  const env = { PATH: process.env['PATH'], HOME: cwd };
  return execFileSync('git', [...who, ...args], { cwd, env, encoding: 'utf8' }).trim();
}

function makeLarge(path: string): void {
  mkdirSync(path);
  plainGit(path, 'init', '-q', '--bare', '-b', 'main');
  const lines = [
    'commit refs/heads/main',
    'committer Pat <pat@example.com> 0 +0000',
    'data 1',
    'x',
  ];
  for (let index = 0; index < FILES; index += 1) {
    const content = `file ${index} of a repository\n`.repeat(8);
    const name = `folder-${index % 200}/part-${index % 7}/file-${index}.txt`;
    lines.push(`M 644 inline ${name}`, `data ${content.length}`, content);
  }
  const input = `${lines.join('\n')}\n`;
  execFileSync('git', ['fast-import', '--quiet'], { cwd: path, input });
}

async function measureWorktrees(folder: string): Promise<Measured[]> {
  const source = join(folder, 'large.git');
  makeLarge(source);
  const program = await findBubblewrap();
  const mirror = await Mirror.open(join(folder, 'host'));
  await withRemote({ url: source, credentials: null }, [folder], (remote) => mirror.fetch(remote));
  const commit = await mirror.tip('main');
  const [own, plain]: [number[], number[]] = [[], []];
  for (let index = 0; index < WORKTREES; index += 1) {
    const tree = join(folder, `tree-${index}`);
    plain.push(
      await seconds(() =>
        plainGit(source, 'worktree', 'add', '-q', '-b', `b${index}`, tree, 'main'),
      ),
    );
    await rm(tree, { recursive: true });
    const work = join(folder, `work-${index}`);
    mkdirSync(work);
    own.push(
      await seconds(async () => {
        const run = new RunRepository(join(folder, `run-${index}`), mirror, `codex/${index}`);
        await run.make(undefined);
        const parts = { run, mirrorObjects: mirror.objects, work, program };
        const snapshots = new Snapshots(parts);
        await makeWorkFolder(
          {
            folder: work,
            branch: run.branch,
            commit,
            target: { branch: 'main', commit },
            objects: [{ here: mirror.objects, inside: mirror.objects }],
            origin: 'http://127.0.0.1:1/repository.git',
            author: { name: 'codex', email: 'codex@drover.invalid' },
          },
          snapshots.seed,
        );
        await snapshots.make(commit);
      }),
    );
    await rm(work, { recursive: true });
  }
  return [
    figure({ name: 'worktree-50000-files-p50', unit: 's', goal: { ratioAtMost: 1.3 } }, own, plain),
  ];
}

async function seconds(work: () => unknown): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1_000;
}

/** A server, a worker in a sandbox, and a bare repository on this machine. */
class Shop {
  private constructor(
    private readonly site: Site,
    private readonly worker: Program,
    private readonly post: (path: string, body: object) => Promise<unknown>,
    private readonly folder: string,
  ) {}

  static async open(rig: Rig, folder: string): Promise<Shop> {
    const seed = join(folder, 'seed');
    mkdirSync(seed);
    plainGit(seed, 'init', '-q', '-b', 'main');
    plainGit(seed, 'commit', '-q', '--allow-empty', '-m', 'A commit');
    for (const name of ['share.git', 'queue.git']) {
      plainGit(folder, 'clone', '-q', '--bare', seed, join(folder, name));
    }
    const site = await rig.newSite();
    const workspaceId = await site.newWorkspace();
    const { token } = await site.newMember(workspaceId);
    const paths = { DROVER_REPOSITORY_PATHS: folder };
    const { url } = await rig.startServer(site, paths);
    const client = new Client(url, 1);
    const post = (path: string, body: object) => client.post(`/api/v1${path}`, token, body);
    const { file, env } = await findBubblewrap();
    const settings = {
      ...paths,
      DROVER_API_URL: url,
      DROVER_API_KEY: token,
      DROVER_WORKSPACE_ID: workspaceId,
      DROVER_WORKER_CONCURRENCY: '4',
      DROVER_WORKER_DATA_DIR: join(folder, 'worker'),
      DROVER_SANDBOX: 'required',
      DROVER_SANDBOX_PROGRAM: file,
      DROVER_SANDBOX_LIBRARIES: env['LD_LIBRARY_PATH'] ?? '',
    };
    const worker = await rig.startProgram('apps/worker/main.js', settings, /Registered/);
    return new Shop(site, worker, post, folder);
  }

  close(): Promise<unknown> {
    return this.worker.stop();
  }

  /** The share of Drover: the repository has no acceptance, and nobody reviews. */
  async measureShare(): Promise<Measured[]> {
    const id = await this.repository('share', { review: 'none' });
    const few = await this.mergeChanges(id, 0);
    await this.addFinished(id);
    const many = await this.mergeChanges(id, CHANGES + FINISHED);
    const goal = { p50: { atMost: 2 } };
    const growth = { name: 'change-beside-2000-finished', unit: 's', goal: { ratioAtMost: 1.2 } };
    return [
      ...latencyFigures('change-submit-to-merged', 's', goal, [latenciesOf(few)]),
      figure(growth, many, few),
    ];
  }

  /** @returns the seconds of each new change from its submission to its merge */
  private async mergeChanges(id: string, finished: number): Promise<number[]> {
    for (let index = 0; index < CHANGES; index += 1) {
      await this.submit(id, finished + index);
      await this.until(id, 'MERGED', finished + index + 1);
    }
    const { rows } = await this.site.owner.query<{ s: number }>(
      `SELECT extract(epoch FROM merged_at - submitted_at)::float8 AS s FROM changes
       WHERE repository_id = $1 ORDER BY merged_at DESC LIMIT $2`,
      [id, CHANGES],
    );
    return rows.map(({ s }) => s);
  }

  /** Copies a merged change and its task. The repository gets as many commits. */
  private async addFinished(id: string): Promise<void> {
    const { owner } = this.site;
    const [tasks, changes] = [await this.columnsOf('agent_tasks'), await this.columnsOf('changes')];
    await owner.query(
      `BEGIN;
       -- A trigger would create the change of each task.
       SET LOCAL session_replication_role = replica;
       WITH one AS MATERIALIZED (
         SELECT c AS change, t AS task FROM changes c JOIN agent_tasks t ON t.id = c.task_id
         WHERE c.repository_id = '${id}' ORDER BY c.merged_at LIMIT 1),
       ids AS MATERIALIZED (
         SELECT gen_random_uuid() AS id FROM generate_series(1, ${FINISHED}) AS n),
       tasks AS (INSERT INTO agent_tasks (${tasks})
         SELECT ${tasks} FROM (SELECT copy.* FROM one, ids,
           jsonb_populate_record(one.task, jsonb_build_object('id', ids.id)) AS copy) AS copies)
       INSERT INTO changes (${changes})
       SELECT ${changes} FROM (SELECT copy.* FROM one, ids,
         jsonb_populate_record(one.change, jsonb_build_object('task_id', ids.id,
           'merged_at', (one.change).merged_at - interval '1 hour')) AS copy) AS copies;
       COMMIT`,
    );
    await owner.query('ANALYZE agent_tasks, changes');
    const bare = join(this.folder, 'share.git');
    const tip = plainGit(bare, 'rev-parse', 'main');
    const lines = Array.from({ length: FINISHED }, (_, index) => [
      'commit refs/heads/main\ncommitter Pat <pat@example.com> 0 +0000\ndata 1\nx',
      ...(index === 0 ? [`from ${tip}`] : []),
      `M 644 inline old/${index}.txt\ndata 1\nx`,
    ]);
    const input = `${lines.flat().join('\n')}\n`;
    execFileSync('git', ['fast-import', '--quiet'], { cwd: bare, input });
  }

  /** Changes that are approved at one time land one after the other, each on top of the last. */
  async measureQueue(): Promise<Measured[]> {
    const id = await this.repository('queue', { review: 'person', acceptance: 'sleep 1' });
    for (let index = 0; index < QUEUED; index += 1) await this.submit(id, index);
    await this.until(id, 'IN_REVIEW', QUEUED);
    const { rows } = await this.site.owner.query<{ id: string; head: string }>(
      `SELECT task_id AS id, head_commit AS head FROM changes WHERE repository_id = $1`,
      [id],
    );
    const took = await seconds(async () => {
      for (const { id: change, head } of rows) {
        await this.post(`/changes/${change}/approve`, { headCommit: head });
      }
      await this.until(id, 'MERGED', QUEUED);
    });
    return [figure({ name: 'merge-50-approved-changes', unit: 's', goal: { atMost: 63 } }, [took])];
  }

  /** The columns that an INSERT can name. */
  private async columnsOf(table: string): Promise<string> {
    const { rows } = await this.site.owner.query<{ columns: string }>(
      `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
       WHERE table_name = $1 AND is_generated = 'NEVER'`,
      [table],
    );
    return rows[0]?.columns ?? '';
  }

  private async repository(name: string, settings: object): Promise<string> {
    const url = join(this.folder, `${name}.git`);
    const made = (await this.post('/repositories', { name, url, ...settings })) as { id: string };
    return made.id;
  }

  private submit(repositoryId: string, index: number): Promise<unknown> {
    const command = ['bash', '-c', `echo ${index} > file-${index}.txt`];
    return this.post('/agent-tasks', {
      title: `Change ${index}`,
      taskType: 'benchmark',
      repositoryId,
      inputContext: { command },
    });
  }

  private async until(repositoryId: string, state: string, count: number): Promise<void> {
    for (;;) {
      const { rows } = await this.site.owner.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM changes WHERE repository_id = $1 AND state = $2`,
        [repositoryId, state],
      );
      if (rows[0]?.n === count) return;
      await delay(LOOK_MS);
    }
  }
}
