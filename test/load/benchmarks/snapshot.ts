import pg from 'pg';
import type { Benchmark } from '../harness/benchmark.js';
import type { Core } from '../harness/core.js';
import { drainWithCore } from '../harness/drain.js';
import { figure } from '../harness/figure.js';
import { inTurns, perSecond } from '../harness/in-turns.js';
import type { Site } from '../harness/site.js';
import { ANY_TABLE } from '../harness/tables.js';

const TASKS = 20_000;
const CONCURRENCY = 10;
const BATCH = 10;

/** Measures a drain during an old snapshot, so that no dead row can be removed. */
export const snapshot: Benchmark = {
  name: 'snapshot',
  what: `a drain of ${TASKS.toLocaleString('en')} tasks beside an old snapshot`,
  async run(rig) {
    const site = await rig.newSite();
    const core = await rig.startCore(site);
    await drain(site, core, TASKS / 10);
    const { held, without } = await inTurns(rig.repeats, {
      without: () => drain(site, core, TASKS),
      held: () => besideOldSnapshot(site, () => drain(site, core, TASKS)),
    });
    const goal = { ratioAtLeast: 0.9 };
    return [figure({ name: 'drain-beside-snapshot', unit: 'tasks/s', goal }, held, without)];
  },
};

async function drain(site: Site, core: Core, tasks: number): Promise<number> {
  const { workspaceId, agents } = await site.newQueue(tasks, CONCURRENCY);
  return perSecond(() => drainWithCore(core, workspaceId, { agents, batch: BATCH }));
}

async function besideOldSnapshot<T>(site: Site, work: () => Promise<T>): Promise<T> {
  const holder = new pg.Client({ connectionString: site.ownerUrl });
  await holder.connect();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query(`SELECT count(*) FROM ${ANY_TABLE}`);
  try {
    return await work();
  } finally {
    await holder.query('ROLLBACK');
    await holder.end();
  }
}
