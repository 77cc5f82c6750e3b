import { agentsFolder } from '#lib/kernel';
import type { ChildSpec } from '../shared/children.js';
import type { Home, Secrets } from './home.js';
import type { TaskIsolation } from './isolation.js';
import { logTo } from './log-file.js';
import { withSecretFiles } from './secret-files.js';
import { calledFrom, workerSettings } from './settings.js';

const WORKER_CONCURRENCY = 2;
const WORKER_DRAIN_SECONDS = 10;

export const STOPPING = `Stopping: what runs has up to ${WORKER_DRAIN_SECONDS} s to finish, or to save how far it is.`;

/** Worker and gateway finish their work at this signal, without a deadline. */
export const FINISH_SIGNAL = 'SIGUSR2';

export function finishing(seconds: number): string {
  return `Stopping: running tasks have up to ${seconds} s to finish.`;
}

/**
 * @param address the address of the server
 */
export function workerSpecs(
  count: number,
  home: Home,
  secrets: Secrets,
  address: string,
  isolation: TaskIsolation,
): ChildSpec[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `worker-${index + 1}`;
    return {
      name,
      program: 'apps/worker/main.js',
      onLine: logTo(home.logFile(name)),
      stopWithinMs: (WORKER_DRAIN_SECONDS + 15) * 1_000,
      env: withSecretFiles(home.programFolder(`${name}-secrets`), {
        DROVER_WORKER_CONCURRENCY: String(WORKER_CONCURRENCY),
        DROVER_WORKER_METRICS_TOKEN: secrets.metricsToken,
        // `drover agent install` installs into it.
        DROVER_AGENTS: agentsFolder(),
        DROVER_REPOSITORY_PATHS: calledFrom(),
        ...workerSettings(index),
        ...isolation.env,
        DROVER_API_URL: address,
        DROVER_API_SOCKET: home.socket ?? '',
        DROVER_API_KEY: home.workerKey ?? '',
        DROVER_WORKER_NAME: name,
        DROVER_HOME: home.folder,
        DROVER_WORKER_DATA_DIR: home.programFolder(name),
        // The folder lies below the worker's data: with a shared folder, each worker would clear
        // away the other's runs.
        DROVER_WORKER_WORK_DIR: '',
        DROVER_WORKER_DRAIN_SECONDS: String(WORKER_DRAIN_SECONDS),
        DROVER_WORKER_GRACE_SECONDS: '5',
        // The same agent in its next process. A terminated one never returns.
        DROVER_WORKER_DEREGISTER: 'false',
      }),
    };
  });
}
