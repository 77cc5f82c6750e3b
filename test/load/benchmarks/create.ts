import type { Benchmark } from '../harness/benchmark.js';
import { figure } from '../harness/figure.js';
import { type Load, postsPerSecond } from '../harness/http-load.js';
import { inTurns } from '../harness/in-turns.js';
import { JWT_SECRET, type Rig } from '../harness/rig.js';

const CONNECTIONS = 16;
const PER_BATCH = 1_000;
const TASK = {
  title: 'A task',
  taskType: 'test',
  priority: 5,
  inputContext: { command: ['true'] },
};

const PLAIN_TABLE = `
CREATE TABLE plain_tasks (
  workspace_id uuid NOT NULL,
  id uuid PRIMARY KEY,
  title text NOT NULL,
  task_type text NOT NULL,
  status text NOT NULL DEFAULT 'PENDING',
  priority int NOT NULL,
  input_context jsonb NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now()
)`;

type Plan = Omit<Load, 'url' | 'path' | 'body'>;

/** Tasks over HTTP: one a request, and a thousand a request. */
export const create: Benchmark = {
  name: 'create',
  what: `task creation over HTTP, ${CONNECTIONS} connections, and in batches of ${PER_BATCH}`,
  async run(rig) {
    const site = await rig.newSite();
    const workspaceId = await site.newWorkspace();
    const { token } = await site.newMember(workspaceId);
    await site.owner.query(PLAIN_TABLE);
    const bare = await rig.startProgram('test/load/floors/bare-server.js', {
      JWT_SECRET,
      VALKEY_URL: rig.valkeyUrl,
      DATABASE_URL: site.ownerUrl,
    });
    const server = await rig.startServer(site, { ROLES: 'api' });
    const plan: Plan = {
      connections: CONNECTIONS,
      seconds: 5,
      headers: () => ({ authorization: `Bearer ${token}` }),
    };
    const { values, floors } = await compare(rig, plan, { ours: server.url, bare: bare.url });
    const alone = { name: 'create', unit: 'tasks/s', goal: { ratioAtLeast: 0.6 } };
    const batches = await inBatches(rig, plan, server.url);
    await server.stop();
    const whole = await rig.startServer(site);
    const all = await besideTheRest(rig, plan, whole.url);
    return [
      figure(alone, values, floors),
      figure({ name: 'create-batch', unit: 'tasks/s' }, batches),
      // Held against the floor from before: the relay would burden one that is measured beside it.
      figure({ name: 'create-all-roles', unit: 'tasks/s' }, all, floors),
    ];
  },
};

interface Urls {
  ours: string;
  bare: string;
}

async function compare(rig: Rig, plan: Plan, urls: Urls) {
  const ours: Load = { ...plan, url: urls.ours, path: '/api/v1/agent-tasks', body: TASK };
  const theirs: Load = { ...plan, url: urls.bare, path: '/tasks', body: TASK };
  return inTurns(rig.repeats, {
    warmUp: async () => {
      await postsPerSecond({ ...ours, seconds: 2 });
      await postsPerSecond({ ...theirs, seconds: 2 });
    },
    value: () => postsPerSecond(ours),
    floor: () => postsPerSecond(theirs),
  });
}

/** With the relay publishing each event and the coordinator looking on, in the same process. */
async function besideTheRest(rig: Rig, plan: Plan, url: string): Promise<number[]> {
  const load: Load = { ...plan, url, path: '/api/v1/agent-tasks', body: TASK };
  const values: number[] = [];
  await postsPerSecond({ ...load, seconds: 2 });
  for (let repeat = 0; repeat < rig.repeats; repeat++) values.push(await postsPerSecond(load));
  return values;
}

async function inBatches(rig: Rig, plan: Plan, url: string): Promise<number[]> {
  const tasks = Array.from({ length: PER_BATCH }, () => TASK);
  const load: Load = {
    ...plan,
    connections: 2,
    url,
    path: '/api/v1/agent-tasks/batch',
    body: { tasks },
  };
  const values: number[] = [];
  await postsPerSecond({ ...load, seconds: 2 });
  for (let repeat = 0; repeat < rig.repeats; repeat++) {
    values.push((await postsPerSecond(load)) * PER_BATCH);
  }
  return values;
}
