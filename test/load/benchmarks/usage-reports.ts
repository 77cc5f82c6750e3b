import { newId } from '#lib/kernel';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, type Measured } from '../harness/figure.js';
import { inTurns, perSecond } from '../harness/in-turns.js';
import type { Rig } from '../harness/rig.js';
import type { Holder, Site } from '../harness/site.js';

const REPORTERS = 16;
/** Each project has its own budget and run. */
const PROJECTS = 64;
const ENOUGH = '1000000000000000';
const DAY_MS = 86_400_000;

/** The number of requests of all reporters together. */
const SHAPES = [
  { batch: 1, requests: 3_000 },
  { batch: 50, requests: 600 },
];

interface Run {
  id: string;
  token: string;
}

/**
 * Measures usage reports over HTTP, charged to one budget that covers all runs, and to one for each
 * of 64 projects.
 */
export const usageReports: Benchmark = {
  name: 'usage-reports',
  what: `${REPORTERS} reporters of usage over HTTP, on one hot budget and on ${PROJECTS}`,
  async run(rig) {
    const site = await rig.newSite({ durable: true });
    const server = await rig.startServer(site);
    const client = new Client(server.url, REPORTERS);
    const hot = await runsUnderBudgets(site, client, 'global');
    const many = await runsUnderBudgets(site, client, 'project');
    await site.settle();
    const figures: Measured[] = [];
    for (const shape of SHAPES) figures.push(await measure(rig, client, { hot, many, ...shape }));
    await client.close();
    await server.stop();
    return figures;
  },
};

async function measure(
  rig: Rig,
  client: Client,
  { hot, many, batch, requests }: { hot: Run[]; many: Run[]; batch: number; requests: number },
): Promise<Measured> {
  const drain = (runs: Run[], count: number) =>
    perSecond(() => reportAll(client, runs, { batch, requests: count }));
  await drain(hot, requests / 4);
  await drain(many, requests / 4);
  const turns = { many: () => drain(many, requests), hot: () => drain(hot, requests) };
  const rates = await inTurns(rig.repeats, turns);
  const about = { name: `usage-reports-${batch}`, unit: 'reports/s', goal: { ratioAtLeast: 0.5 } };
  return figure(about, rates.hot, rates.many);
}

/**
 * @returns the number of accepted reports
 */
async function reportAll(
  client: Client,
  runs: readonly Run[],
  { batch, requests }: { batch: number; requests: number },
): Promise<number> {
  let left = requests;
  const reporter = async (): Promise<void> => {
    while (left > 0) {
      const run = runs[left-- % runs.length] as Run;
      const reports = Array.from({ length: batch }, aReport);
      await client.post(`/api/v1/runs/${run.id}/usage`, run.token, { reports });
    }
  };
  await Promise.all(Array.from({ length: REPORTERS }, reporter));
  return requests * batch;
}

function aReport(): object {
  return { id: newId(), model: 'claude-sonnet-4', inputTokens: 900, outputTokens: 100 };
}

/** Creates a workspace with a run in each of its projects. */
async function runsUnderBudgets(
  site: Site,
  client: Client,
  scope: 'global' | 'project',
): Promise<Run[]> {
  const workspaceId = await site.newWorkspace();
  const { token } = await site.newMember(workspaceId);
  const make = <T>(path: string, body: object) => client.post<T>(`/api/v1${path}`, token, body);
  if (scope === 'global') await make('/budgets', aBudget(scope));
  for (let n = 0; n < PROJECTS; n++) {
    const { id: projectId } = await make<{ id: string }>('/projects', { name: `Project ${n}` });
    if (scope === 'project') await make('/budgets', aBudget(scope, projectId));
    await make('/agent-tasks', { title: 'Report', taskType: 'report', projectId });
  }
  const [agent] = await site.newAgents(workspaceId, 1, PROJECTS);
  return claimAll(client, agent as Holder);
}

function aBudget(scope: string, scopeId?: string): object {
  const [periodStart, periodEnd] = [-1, 1].map((days) => new Date(Date.now() + days * DAY_MS));
  return { scope, scopeId, allocated: ENOUGH, periodStart, periodEnd };
}

async function claimAll(client: Client, { id, token }: Holder): Promise<Run[]> {
  const runs: Run[] = [];
  while (runs.length < PROJECTS) {
    const path = `/api/v1/agents/${id}/claim`;
    const body = { maxTasks: 50, waitMs: 1_000 };
    const { tasks } = await client.post<{ tasks: { run: { id: string } }[] }>(path, token, body);
    runs.push(...tasks.map(({ run }) => ({ id: run.id, token })));
  }
  return runs;
}
