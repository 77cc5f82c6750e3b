import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  apiAddress,
  LOG_LEVELS,
  SANDBOX_VARIABLES,
  sandboxSettings,
  searchPathOf,
  variablesOf,
} from '#lib/agent-host';
import { isUuid } from '#lib/kernel';
import {
  folders,
  integer,
  list,
  oneOf,
  readVariables,
  SettingsError,
  webAddresses,
} from '#lib/env';

import { CIRCLE_MEASURES } from './agents/circle-watch.js';

export interface ApiKey {
  kind: 'key';
  key: string;
  workspaceId: string | undefined;
}

export interface AgentToken {
  kind: 'agent';
  token: string | undefined;
  tokenFile: string | undefined;
}

export type Credentials = ApiKey | AgentToken;

const text = z.string().trim();

/** Every variable of the worker, with unit and default. docs/settings.md has the table. */
export const environment = z.object({
  /**
   * Address of the server; several addresses of one installation are separated by commas. `/api/v1`
   * is added if it is missing.
   */
  DROVER_API_URL: webAddresses('of the server, such as http://127.0.0.1:3000'),
  /**
   * Path of the Unix socket on which the server listens. The worker uses it instead of the address.
   */
  DROVER_API_SOCKET: text.optional(),
  /** API key with the scope `agents:write`, or a user's access token. */
  DROVER_API_KEY: text.optional(),
  /** Workspace of a user's token. */
  DROVER_WORKSPACE_ID: text.optional(),
  /** Token for DROVER_AGENT_ID, instead of the key. */
  DROVER_AGENT_TOKEN: text.optional(),
  /** File with the token for DROVER_AGENT_ID. It is read again after a refusal. */
  DROVER_AGENT_TOKEN_FILE: text.optional(),
  /** Id of the worker's agent. Default: created at the first start. */
  DROVER_AGENT_ID: text.refine(isUuid, 'must be a UUID').optional(),
  /**
   * Name of the worker. Two workers with one data folder need two names. Default: the host name.
   */
  DROVER_WORKER_NAME: text
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
      'must be at most 100 letters, digits, dots, dashes and underscores',
    )
    .default(hostname),
  /** Capabilities of the agent, separated by commas. */
  DROVER_WORKER_CAPABILITIES: list.default([]),
  /** Number of runs at once. */
  DROVER_WORKER_CONCURRENCY: integer(1, 1, 100),
  /**
   * Folder of `worker-heartbeats.json`, which the workers of a machine share under different names.
   * Runs cannot see it. Default: no file.
   */
  DROVER_HOME: text.optional(),
  /** Time of a run whose task names no timeout; 0: no limit. */
  DROVER_WORKER_SESSION_SECONDS: integer(0, 0, 2_592_000),
  /** The most time of a run, also if its task names a longer timeout; 0: no limit. */
  DROVER_WORKER_MAX_SESSION_SECONDS: integer(0, 0, 2_592_000),
  /** Time for which a claim waits for a task. */
  DROVER_WORKER_POLL_SECONDS: integer(25, 1, 30),
  /** The longest random pause after a claim without a task. */
  DROVER_WORKER_POLL_JITTER_SECONDS: integer(0, 0, 60),
  /** The longest pause after failed claims. */
  DROVER_WORKER_POLL_BACKOFF_SECONDS: integer(5, 1, 3_600),
  /** State of the worker. Only its user can read it. */
  DROVER_WORKER_DATA_DIR: text.default('.drover/worker'),
  /** Folders of the runs. Default: `runs` in the data folder. */
  DROVER_WORKER_WORK_DIR: text.optional(),
  /** Paths in which a task can choose its `cwd`, separated by colons. */
  DROVER_WORKER_ALLOWED_DIRS: folders.default([]),
  /**
   * Folders with coding agents that `drover agent install` installed, separated by colons. They come
   * before the PATH of the worker.
   */
  DROVER_AGENTS: folders.default([]),
  /**
   * Folders whose repositories of git can be targets of changes, separated by colons. Addresses with
   * https and ssh need none.
   */
  DROVER_REPOSITORY_PATHS: folders.default([]),
  /**
   * Days without use after which the worker removes its copy of a repository, and the result of a
   * setup.
   */
  DROVER_WORKER_KEEP_CODE_DAYS: integer(14, 1, 3_650),
  /**
   * True: the working folder of a run on a repository has `.worker-state`, with its state, messages
   * and reviews as files. No commit has them.
   */
  DROVER_WORKER_STATE_FILES: oneOf(['true', 'false']).default('true'),
  /** Names of the worker's variables that processes see, separated by commas. */
  DROVER_WORKER_PASS_ENV: list.default([]),
  /** Folders of runs to keep: those of `failed` runs, or of all. */
  DROVER_WORKER_KEEP_RUNS: oneOf(['never', 'failed', 'always']).default('never'),
  /** True: a drained worker terminates its agent. Default: true without DROVER_AGENT_ID. */
  DROVER_WORKER_DEREGISTER: oneOf(['true', 'false']).optional(),
  /** Time between heartbeats. */
  DROVER_WORKER_HEARTBEAT_SECONDS: integer(10, 1, 3_600),
  /** Time without heartbeats after which the server requeues the worker's tasks. */
  DROVER_WORKER_STALE_SECONDS: integer(45, 2, 86_400),
  /** Time for runs to finish when the worker drains. */
  DROVER_WORKER_DRAIN_SECONDS: integer(10, 0, 86_400),
  /** Time between SIGTERM and SIGKILL. */
  DROVER_WORKER_GRACE_SECONDS: integer(10, 0, 3_600),
  /** Bytes that a run can write to its task's log. */
  DROVER_WORKER_LOG_BYTES: integer(1_048_576, 16_384, 67_108_864),
  /**
   * The most that the worker does about a coding agent that goes in circles: nothing, tell it,
   * interrupt it, or end its run.
   */
  DROVER_WORKER_CIRCLES: oneOf(CIRCLE_MEASURES).default('end'),
  /** Port of /metrics; 0: none. */
  DROVER_WORKER_METRICS_PORT: integer(0, 0, 65_535),
  /** Address of /metrics. */
  DROVER_WORKER_METRICS_HOST: text.default('127.0.0.1'),
  /** Bearer token for /metrics, at least 16 characters. It is required with a port. */
  DROVER_WORKER_METRICS_TOKEN: text.min(16, 'must have at least 16 characters').optional(),
  /** Lowest level that is logged. */
  DROVER_WORKER_LOG_LEVEL: oneOf(LOG_LEVELS).default('info'),
  ...SANDBOX_VARIABLES,
});

export type WorkerConfig = ReturnType<typeof toConfig>;

/** Only the key is missing, and the user can still create it. */
export class NoCredentials extends Error {}

/**
 * Reads the worker's environment variables. docs/settings.md lists them.
 *
 * @throws Error in a sentence that names the first wrong variable and its valid values
 */
export function readConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  try {
    return toConfig(readVariables(environment, env), env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new Error(`${error.problems[0]}.`, { cause: error });
  }
}

function toConfig(env: z.infer<typeof environment>, all: NodeJS.ProcessEnv) {
  const dataDir = resolve(env.DROVER_WORKER_DATA_DIR);
  const workDir = resolve(env.DROVER_WORKER_WORK_DIR ?? `${dataDir}/runs`);
  const agentId = env.DROVER_AGENT_ID;
  const home = env.DROVER_HOME === undefined ? undefined : resolve(env.DROVER_HOME);
  if (env.DROVER_WORKER_STALE_SECONDS <= env.DROVER_WORKER_HEARTBEAT_SECONDS) {
    throw new Error(
      'DROVER_WORKER_STALE_SECONDS must be greater than DROVER_WORKER_HEARTBEAT_SECONDS.',
    );
  }
  if (env.DROVER_API_SOCKET !== undefined && env.DROVER_API_URL.length > 1) {
    throw new Error('DROVER_API_SOCKET leads to one server: set one address in DROVER_API_URL.');
  }
  return {
    apiUrls: env.DROVER_API_URL.map(apiAddress),
    apiSocket: env.DROVER_API_SOCKET,
    credentials: credentialsOf(env),
    agentId,
    name: env.DROVER_WORKER_NAME,
    capabilities: env.DROVER_WORKER_CAPABILITIES,
    concurrency: env.DROVER_WORKER_CONCURRENCY,
    dataDir,
    home,
    workDir,
    allowedDirs: env.DROVER_WORKER_ALLOWED_DIRS.map((path) => resolve(path)),
    searchPath: searchPathOf(all),
    agentFolders: env.DROVER_AGENTS,
    code: {
      folder: `${dataDir}/code`,
      scripts: `${dataDir}/scripts`,
      roots: env.DROVER_REPOSITORY_PATHS,
      keepDays: env.DROVER_WORKER_KEEP_CODE_DAYS,
      writesState: env.DROVER_WORKER_STATE_FILES === 'true',
    },
    passedEnv: variablesOf(all, ['LANG', ...env.DROVER_WORKER_PASS_ENV]),
    keepRuns: env.DROVER_WORKER_KEEP_RUNS,
    /**
     * True if the agent is terminated with a drained worker. Otherwise it stays registered for the
     * next start. A chosen id is meant to be used again, and a terminated agent never comes back.
     */
    deregister: (env.DROVER_WORKER_DEREGISTER ?? String(agentId === undefined)) === 'true',
    sessionSeconds: env.DROVER_WORKER_SESSION_SECONDS,
    maxSessionSeconds: env.DROVER_WORKER_MAX_SESSION_SECONDS,
    polling: {
      waitMs: env.DROVER_WORKER_POLL_SECONDS * 1000,
      jitterMs: env.DROVER_WORKER_POLL_JITTER_SECONDS * 1000,
      backoffMs: env.DROVER_WORKER_POLL_BACKOFF_SECONDS * 1000,
    },
    heartbeatSeconds: env.DROVER_WORKER_HEARTBEAT_SECONDS,
    staleSeconds: env.DROVER_WORKER_STALE_SECONDS,
    drainSeconds: env.DROVER_WORKER_DRAIN_SECONDS,
    graceSeconds: env.DROVER_WORKER_GRACE_SECONDS,
    logBytesPerRun: env.DROVER_WORKER_LOG_BYTES,
    circles: env.DROVER_WORKER_CIRCLES,
    logLevel: env.DROVER_WORKER_LOG_LEVEL,
    metrics: metricsOf(env),
    isolation: { ...sandboxSettings(hideHome(env, home), dataDir, all), sessionsDir: workDir },
  };
}

/** No run sees the tasks of the other workers. */
function hideHome(env: z.infer<typeof environment>, home: string | undefined) {
  if (home === undefined) return env;
  return { ...env, DROVER_SANDBOX_HIDE: [...env.DROVER_SANDBOX_HIDE, home] };
}

/** The address of the metrics; undefined if nobody can read them. */
function metricsOf(env: z.infer<typeof environment>) {
  const { DROVER_WORKER_METRICS_PORT: port, DROVER_WORKER_METRICS_TOKEN: token } = env;
  if (port === 0) return undefined;
  if (token === undefined) {
    throw new Error('DROVER_WORKER_METRICS_PORT needs DROVER_WORKER_METRICS_TOKEN.');
  }
  return { host: env.DROVER_WORKER_METRICS_HOST, port, token };
}

function credentialsOf(env: z.infer<typeof environment>): Credentials {
  const { DROVER_API_KEY: key, DROVER_AGENT_TOKEN: token, DROVER_AGENT_TOKEN_FILE: file } = env;
  if (key !== undefined) return { kind: 'key', key, workspaceId: env.DROVER_WORKSPACE_ID };
  if (token === undefined && file === undefined) {
    throw new NoCredentials(
      'Set DROVER_API_KEY, or DROVER_AGENT_TOKEN (or DROVER_AGENT_TOKEN_FILE) and DROVER_AGENT_ID.',
    );
  }
  if (env.DROVER_AGENT_ID === undefined) {
    throw new Error('An agent token needs DROVER_AGENT_ID, the agent that it was made for.');
  }
  return { kind: 'agent', token, tokenFile: file };
}
