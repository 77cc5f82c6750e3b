import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { type Goal, type Latencies, latenciesOf, latencyFigures } from '../harness/figure.js';
import type { Program } from '../harness/program.js';
import type { Rig } from '../harness/rig.js';
import type { Site } from '../harness/site.js';
import { WORKING_RUNS } from '../harness/tables.js';

const TASKS = 8;
const LOOK_MS = 20;

/**
 * Measures the time from the SIGKILL of a worker until its tasks run elsewhere, at the shipped
 * settings and without backoff. In one case a supervisor starts the worker again at once, and the
 * worker reports the runs of its earlier process. In the other case it stays silent.
 */
export const recovery: Benchmark = {
  name: 'recovery',
  what: 'recovery of the tasks of a killed worker, started again at once and never',
  async run(rig) {
    const folder = await mkdtemp(join(tmpdir(), 'drover-recovery-'));
    try {
      const fleet = await Fleet.start(rig, folder);
      const [evident, silent]: [Latencies[], Latencies[]] = [[], []];
      for (let repeat = 0; repeat < rig.repeats; repeat++) {
        evident.push(latenciesOf(await fleet.recover({ restart: true })));
        silent.push(latenciesOf(await fleet.recover({ restart: false })));
      }
      await fleet.stop();
      return [
        ...latencyFigures('recovery-with-evidence', 's', both({ atMost: 2 }), evident),
        ...latencyFigures('recovery-without', 's', both({ atMost: 60 }), silent),
      ];
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function both(goal: Goal): { p50: Goal; p99: Goal } {
  return { p50: goal, p99: goal };
}

interface Running {
  task_id: string;
  name: string;
  /** The start in milliseconds since 1970, by the database on this machine. */
  started_ms: number;
}

/** Runs a server and two workers that have room for everything. */
class Fleet {
  private readonly workers = new Map<string, Program>();
  private born = 0;

  private constructor(
    private readonly rig: Rig,
    private readonly site: Site,
    private readonly env: Record<string, string>,
    private readonly folder: string,
    private readonly post: (path: string, body: object) => Promise<unknown>,
  ) {}

  static async start(rig: Rig, folder: string): Promise<Fleet> {
    const site = await rig.newSite();
    const workspaceId = await site.newWorkspace();
    const { token } = await site.newMember(workspaceId);
    const { url } = await rig.startServer(site);
    const env = {
      DROVER_API_URL: url,
      DROVER_API_KEY: token,
      DROVER_WORKSPACE_ID: workspaceId,
      DROVER_WORKER_CONCURRENCY: String(2 * TASKS),
    };
    const client = new Client(url, 1);
    const post = (path: string, body: object) => client.post(`/api/v1${path}`, token, body);
    return new Fleet(rig, site, env, folder, post);
  }

  /**
   * @returns for each task the seconds from the worker's end to its next start
   */
  async recover({ restart }: { restart: boolean }): Promise<number[]> {
    await this.cancelAll();
    const victim = await this.newWorker();
    const script = 'setTimeout(() => {}, 600_000)';
    const tasks = Array.from({ length: TASKS }, () => ({
      title: 'A long task',
      taskType: 'benchmark',
      retryBackoffSeconds: 0,
      inputContext: { command: [process.execPath, '-e', script] },
    }));
    await this.post('/agent-tasks/batch', { tasks });
    await this.until((running) => running.length === TASKS);
    const other = await this.newWorker();
    const killedAt = Date.now();
    await this.workers.get(victim)?.kill();
    this.workers.delete(victim);
    if (restart) await this.startWorker(victim);
    const moved = await this.until(
      (running) => running.length === TASKS && running.every(({ started_ms: at }) => at > killedAt),
    );
    if (restart) await this.stopWorker(victim);
    await this.cancelAll();
    await this.stopWorker(other);
    return moved.map(({ started_ms: at }) => (at - killedAt) / 1_000);
  }

  async stop(): Promise<void> {
    for (const name of this.workers.keys()) await this.stopWorker(name);
  }

  private async newWorker(): Promise<string> {
    const name = `worker-${++this.born}`;
    await this.startWorker(name);
    return name;
  }

  private async startWorker(name: string): Promise<void> {
    const own = {
      DROVER_WORKER_NAME: name,
      DROVER_WORKER_DATA_DIR: join(this.folder, name),
    };
    const env = { ...this.env, ...own };
    this.workers.set(name, await this.rig.startProgram('apps/worker/main.js', env, /Registered/));
  }

  private async stopWorker(name: string): Promise<void> {
    await this.workers.get(name)?.stop();
    this.workers.delete(name);
  }

  private async cancelAll(): Promise<void> {
    await this.post('/agent-tasks/bulk/cancel', { filter: { taskType: 'benchmark' } });
    await this.until((running) => running.length === 0);
  }

  private async until(condition: (running: Running[]) => boolean): Promise<Running[]> {
    for (;;) {
      const { rows } = await this.site.owner.query<Running>(WORKING_RUNS);
      if (condition(rows)) return rows;
      await delay(LOOK_MS);
    }
  }
}
