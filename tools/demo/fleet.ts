import { join } from 'node:path';
import type { CleanupScope } from '#lib/local-servers';
import type { DroverClient } from '#lib/api-client';
import { Child, type ChildSpec } from '../shared/children.js';
import type { People } from './people.js';
import { HEARTBEAT_SECONDS, STALE_SECONDS, type WorkerPlan, WORKERS } from './settings.js';
import type { Stage } from './stage.js';

export interface Worker {
  name: string;
  agentId: string;
  process: Child;
}

/** The workers. Each is a process that has registered as an agent. */
export class Fleet {
  private constructor(readonly workers: readonly Worker[]) {}

  static async start(scope: CleanupScope, stage: Stage, people: People): Promise<Fleet> {
    const starting = WORKERS.map((plan) => startWorker(stage, people, plan));
    const started = await Promise.all(starting);
    // Ends all workers at once and before the server, because they report their releases to it.
    scope.add(async () => void (await Promise.all(started.map((child) => child.stop()))));
    const workers = started.map(async (child): Promise<Worker> => {
      const { agentId } = await child.ready(({ message }) => message === 'Registered');
      return { name: child.spec.name, agentId: String(agentId), process: child };
    });
    return new Fleet(await Promise.all(workers));
  }

  byAgent(agentId: string | null): Worker | undefined {
    return this.workers.find((worker) => worker.agentId === agentId);
  }

  nameOf(agentId: string | null): string {
    return this.byAgent(agentId)?.name ?? '';
  }
}

function startWorker(stage: Stage, people: People, plan: WorkerPlan): Promise<Child> {
  const spec = workerSpec(stage, people, plan);
  // The demo's tasks read the project's own files.
  const env = { ...spec.env, DROVER_SANDBOX: 'off', DROVER_ACCOUNTS: 'off' };
  return Child.start(stage.supervisor, { ...spec, env });
}

export function workerSpec(stage: Stage, { workerKey }: People, plan: WorkerPlan): ChildSpec {
  return {
    name: plan.name,
    program: 'apps/worker/main.js',
    stopWithinMs: 6_000,
    env: {
      DROVER_API_URL: stage.address,
      DROVER_API_KEY: workerKey,
      DROVER_WORKER_NAME: plan.name,
      DROVER_WORKER_CAPABILITIES: plan.capabilities.join(','),
      DROVER_WORKER_CONCURRENCY: String(plan.concurrency),
      DROVER_WORKER_DATA_DIR: join(stage.folder, plan.name),
      DROVER_WORKER_HEARTBEAT_SECONDS: String(HEARTBEAT_SECONDS),
      DROVER_WORKER_STALE_SECONDS: String(STALE_SECONDS),
      DROVER_WORKER_DRAIN_SECONDS: '0',
      DROVER_WORKER_GRACE_SECONDS: '1',
    },
  };
}

/**
 * Resolves when every worker can get tasks, which is when the server has received its heartbeat.
 */
export async function untilIdle(member: DroverClient): Promise<void> {
  for (;;) {
    const { items } = await member.get('/api/v1/agents', { params: { query: { limit: 100 } } });
    const idle = items.filter(({ status }) => status === 'IDLE').length;
    if (idle >= WORKERS.length) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
