import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, latenciesOf, latencyFigures } from '../harness/figure.js';
import { inTurns, perSecond } from '../harness/in-turns.js';
import type { Site } from '../harness/site.js';
import { ADD_USAGE, ADD_USAGE_PROJECTS, USAGE_BEHIND } from '../harness/tables.js';

const REPORTS = 1_000_000;
const TASKS = 50_000;
const PROJECTS = 10;
const AGENTS = 200;
const REQUESTS = 200;
const CONNECTIONS = 2;
const LOOK_MS = 50;

const GROUPINGS = ['day', 'agent', 'task', 'project', 'model'];

/**
 * Measures the history of a year over HTTP, by each of the five groupings, of the workspace and of
 * a project, beside one day's.
 */
export const usageHistory: Benchmark = {
  name: 'usage-history',
  what: `the history of usage over a year of ${REPORTS.toLocaleString('en')} reports`,
  async run(rig) {
    const site = await rig.newSite();
    const workspaceId = await site.newWorkspace();
    const { token } = await site.newMember(workspaceId);
    rig.note(`filling in ${REPORTS.toLocaleString('en')} reports`);
    const projectId = await fill(site, workspaceId);
    const server = await rig.startServer(site);
    const rate = await perSecond(() => rolledUp(site));
    await site.settle();
    const client = new Client(server.url, CONNECTIONS);
    const ask = async (days: number) =>
      latenciesOf(await latencies(client, token, projectId, days));
    // The first requests find unprepared statements and cold caches.
    await ask(365);
    const { year, day } = await inTurns(rig.repeats, { day: () => ask(1), year: () => ask(365) });
    await client.close();
    await server.stop();
    return [
      figure({ name: 'usage-rolled-up', unit: 'reports/s' }, [rate]),
      ...latencyFigures('usage-history', 'ms', { p99: { atMost: 50 } }, year, day),
    ];
  },
};

async function fill(site: Site, workspaceId: string): Promise<string> {
  const { rows } = await site.owner.query<{ id: string }>(ADD_USAGE_PROJECTS, [
    workspaceId,
    PROJECTS,
  ]);
  await site.owner.query(ADD_USAGE, [workspaceId, REPORTS, TASKS, AGENTS]);
  await site.settle();
  return rows[0]?.id ?? '';
}

/** Resolves when the server has summed up all reports. @returns their number */
async function rolledUp(site: Site): Promise<number> {
  while ((await site.owner.query(USAGE_BEHIND)).rows.length > 0) await delay(LOOK_MS);
  return REPORTS;
}

async function latencies(
  client: Client,
  token: string,
  projectId: string,
  days: number,
): Promise<number[]> {
  const day = (ago: number): string =>
    new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const paths = GROUPINGS.flatMap((groupBy) => {
    const path = `/api/v1/usage?groupBy=${groupBy}&from=${day(days - 1)}&to=${day(0)}`;
    return [path, `${path}&projectId=${projectId}`];
  });
  const all: number[] = [];
  const askInTurn = async (first: number): Promise<void> => {
    for (let n = first; n < REQUESTS; n += CONNECTIONS) {
      const start = performance.now();
      await client.get(paths[n % paths.length] ?? '', token);
      all.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, first) => askInTurn(first)));
  return all;
}
