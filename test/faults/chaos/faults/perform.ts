import type { FaultKind, PlannedFault } from '../schedule.js';
import type { Service } from '../stage/service.js';
import type { Stage } from '../stage/stage.js';
import type { Deaths } from './deaths.js';

export interface Scene {
  stage: Stage;
  deaths: Deaths;
  /** Resolves after a time. Rejects if the run is aborted. */
  wait(ms: number): Promise<void>;
}

type Perform = (scene: Scene, fault: PlannedFault) => Promise<void>;

const TERMINATED_SHARE = 0.7;

function one(services: readonly Service[], { target }: PlannedFault): Service {
  return services[target % services.length] as Service;
}

async function killWorkers(
  scene: Scene,
  workers: readonly Service[],
  {
    ms,
    kill = (worker) => worker.kill(),
  }: { ms: number; kill?: (worker: Service) => Promise<void> },
): Promise<void> {
  const deaths = await Promise.all(workers.map((worker) => scene.deaths.about(worker.name)));
  await Promise.all(workers.map(kill));
  for (const death of deaths) death.happened();
  await scene.wait(ms);
  await Promise.all(workers.map((worker) => worker.start()));
}

async function killed(scene: Scene, services: readonly Service[], ms: number): Promise<void> {
  await Promise.all(services.map((service) => service.kill()));
  await scene.wait(ms);
  await Promise.all(services.map((service) => service.start()));
}

async function stopped(scene: Scene, service: Service, ms: number): Promise<void> {
  service.pause();
  await scene.wait(ms).finally(() => service.resume());
}

async function restarted(scene: Scene, service: Service, ms: number): Promise<void> {
  await service.stop();
  await scene.wait(ms);
  await service.start();
}

async function leader({ postgres, servers }: Stage): Promise<Service> {
  const rows = await postgres.rows<{ instance_id: string | null }>(
    'SELECT instance_id FROM coordinator_leadership',
  );
  const name = rows[0]?.instance_id;
  return servers.find((server) => server.name === name) ?? (servers[0] as Service);
}

/** Locks the table like a change of its columns: all other transactions wait. */
async function lockTasks({ stage, wait }: Scene, ms: number): Promise<void> {
  const client = await stage.postgres.owner.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL lock_timeout = '3s'`);
    await client.query('LOCK TABLE agent_tasks IN ACCESS EXCLUSIVE MODE');
    await wait(ms);
    await client.query('ROLLBACK');
    client.release();
  } catch (error) {
    client.release(true);
    if ((error as { code?: string }).code !== '55P03') throw error;
  }
}

/** Each function does damage, waits for its length, and undoes it. */
export const PERFORM: Record<FaultKind, Perform> = {
  worker_killed: (scene, fault) =>
    killWorkers(scene, [one(scene.stage.workers, fault)], { ms: fault.lastsMs }),
  worker_killed_for_long: (scene, fault) =>
    killWorkers(scene, [one(scene.stage.workers, fault)], { ms: fault.lastsMs }),
  worker_lost: (scene, fault) =>
    killWorkers(scene, [one(scene.stage.workers, fault)], {
      ms: fault.lastsMs,
      kill: (worker) => worker.lose(),
    }),
  worker_stopped: (scene, fault) => stopped(scene, one(scene.stage.workers, fault), fault.lastsMs),
  worker_drained: (scene, fault) =>
    restarted(scene, one(scene.stage.workers, fault), fault.lastsMs),
  all_workers_killed: (scene, fault) =>
    killWorkers(scene, scene.stage.workers, { ms: fault.lastsMs }),
  server_killed: (scene, fault) => killed(scene, [one(scene.stage.servers, fault)], fault.lastsMs),
  server_restarted: (scene, fault) =>
    restarted(scene, one(scene.stage.servers, fault), fault.lastsMs),
  servers_killed: (scene, fault) => killed(scene, scene.stage.servers, fault.lastsMs),
  leader_stopped: async (scene, fault) => stopped(scene, await leader(scene.stage), fault.lastsMs),
  gateway_killed: (scene, fault) => killed(scene, [scene.stage.gateway], fault.lastsMs),
  async gateway_lost({ stage, wait }, { lastsMs }) {
    await stage.gateway.kill();
    await stage.killSessions();
    await stage.gateway.lose();
    await wait(lastsMs);
    await stage.gateway.start();
  },
  gateway_stopped: (scene, fault) => stopped(scene, scene.stage.gateway, fault.lastsMs),
  async valkey_killed({ stage, wait }, { lastsMs }) {
    await stage.valkey.kill();
    await wait(lastsMs);
    await stage.valkey.startAgain();
  },
  async valkey_flushed({ stage }) {
    // Without a Valkey to flush, it is already empty.
    await stage.valkey.flush().catch(() => undefined);
  },
  async valkey_stopped({ stage, wait }, { lastsMs }) {
    stage.valkey.pause();
    await wait(lastsMs).finally(() => stage.valkey.resume());
  },
  async postgres_crashed({ stage, wait }, { lastsMs }) {
    await stage.postgres.crash();
    await wait(lastsMs);
    await stage.postgres.startAgain();
  },
  async postgres_frozen({ stage, wait }, { lastsMs }) {
    await stage.postgres.freeze();
    await wait(lastsMs).finally(() => stage.postgres.thaw());
  },
  async connections_terminated({ stage }) {
    await stage.postgres.rows(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE usename IN ('drover_app', 'drover_service') AND random() < $1`,
      [TERMINATED_SHARE],
    );
  },
  tasks_locked: (scene, { lastsMs }) => lockTasks(scene, lastsMs),
};
