import pg from 'pg';
import { AuditedQueue } from '../floors/audited-queue.js';
import { BareQueue } from '../floors/bare-queue.js';
import type { Benchmark } from '../harness/benchmark.js';
import { drainWithCore } from '../harness/drain.js';
import { figure, type Measured } from '../harness/figure.js';
import { inTurns, perSecond } from '../harness/in-turns.js';
import type { Rig } from '../harness/rig.js';
import { GraphileWorker } from '../peers/graphile-worker.js';
import { WORKERS } from '../peers/peer.js';

/**
 * Measures no-op tasks that are claimed and completed through the server's own services, without
 * HTTP.
 */
export const claimComplete: Benchmark = {
  name: 'claim-complete',
  what: `claim and complete of no-op tasks, ${WORKERS} at once and alone`,
  async run(rig) {
    const one = await measure(rig, { batch: 1, tasks: 6_000, agents: WORKERS });
    const alone = await measure(rig, { batch: 1, tasks: 2_000, agents: 1 });
    const fifty = await measure(rig, { batch: 50, tasks: 20_000, agents: WORKERS });
    const about = (name: string, ratioAtLeast?: number) => {
      const goal = ratioAtLeast === undefined ? undefined : { ratioAtLeast };
      return { name, unit: 'tasks/s', goal };
    };
    return [
      figure(about('claim-complete-1', 0.9), one.ours, one.bare),
      figure(about('claim-complete-1-beside-audited'), one.ours, one.audited),
      figure(about('claim-complete-1-beside-graphile', 1), one.ours, one.graphile),
      figure(about('claim-complete-1-alone', 0.45), alone.ours, alone.bare),
      figure(about('claim-complete-1-alone-beside-audited'), alone.ours, alone.audited),
      figure(about('claim-complete-50', 0.32), fifty.ours, fifty.bare),
      figure(about('claim-complete-50-beside-audited'), fifty.ours, fifty.audited),
      figure(about('graphile-worker'), one.graphile ?? []),
    ] satisfies Measured[];
  },
};

interface Shape {
  batch: number;
  tasks: number;
  agents: number;
}

type Drain = (tasks: number) => Promise<number>;

/**
 * Compares with the hand-written loop, without and with Drover's promises, and with graphile-worker if
 * it does the same.
 */
async function measure(rig: Rig, { batch, tasks, agents }: Shape) {
  const ways: Record<string, Drain> = {
    bare: await bareDrain(rig, batch, agents),
    audited: await auditedDrain(rig, batch, agents),
    ours: await coreDrain(rig, batch, agents),
  };
  if (batch === 1 && agents === WORKERS) ways['graphile'] = await graphileDrain(rig);
  for (const drain of Object.values(ways)) await drain(tasks / 4);
  const turns = Object.entries(ways).map(([name, drain]) => [name, () => drain(tasks)] as const);
  const values = await inTurns(rig.repeats, Object.fromEntries(turns));
  const { ours = [], bare = [], audited = [], graphile } = values;
  return { ours, bare, audited, graphile };
}

async function coreDrain(rig: Rig, batch: number, count: number): Promise<Drain> {
  const site = await rig.newSite();
  const core = await rig.startCore(site);
  return async (tasks) => {
    const { workspaceId, agents } = await site.newQueue(tasks, count);
    return perSecond(() => drainWithCore(core, workspaceId, { agents, batch }));
  };
}

async function bareDrain(rig: Rig, batch: number, count: number): Promise<Drain> {
  const site = await rig.newSite();
  const queue = await BareQueue.create(site.ownerUrl, count);
  rig.onClear(() => queue.close());
  return async (tasks) => {
    const workspaceId = await site.newWorkspace();
    const agents = await site.newAgents(workspaceId, count);
    await queue.fill(workspaceId, tasks);
    const ids = agents.map(({ id }) => id);
    return perSecond(() => queue.drain(workspaceId, ids, batch));
  };
}

async function auditedDrain(rig: Rig, batch: number, count: number): Promise<Drain> {
  const site = await rig.newSite();
  const queue = await AuditedQueue.create(site.owner, site.env['DATABASE_URL'] ?? '');
  return async (tasks) => {
    const workspaceId = await site.newWorkspace();
    const agents = await site.newAgents(workspaceId, count);
    await queue.fill(workspaceId, tasks);
    const ids = agents.map(({ id }) => id);
    return perSecond(() => queue.drain(workspaceId, ids, batch));
  };
}

/** Does the same work with a widely used queue. */
async function graphileDrain(rig: Rig): Promise<Drain> {
  const url = await rig.newDatabase();
  const peer = await GraphileWorker.create(url);
  rig.onClear(() => peer.close());
  return async (tasks) => {
    await peer.addMany(tasks);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('VACUUM (ANALYZE)');
    await client.end();
    return perSecond(() => peer.drain(1));
  };
}
