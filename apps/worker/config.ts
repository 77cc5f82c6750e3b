import { hostname } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { isUuid } from '#lib/kernel';
import { LOG_LEVELS, type LogLevel } from './log.js';

export type KeepRuns = 'never' | 'failed' | 'always';

export type Credentials =
  | { kind: 'key'; key: string; workspaceId: string | undefined }
  | { kind: 'agent'; token: string | undefined; tokenFile: string | undefined };

export interface WorkerConfig {
  /** Ends in /api/v1, without a slash behind. */
  apiUrl: string;
  credentials: Credentials;
  agentId: string | undefined;
  name: string;
  capabilities: string[];
  concurrency: number;
  dataDir: string;
  workDir: string;
  allowedDirs: string[];
  passEnv: string[];
  keepRuns: KeepRuns;
  /** Whether the agent ends with a drained worker; else it stays registered for the next life. */
  deregister: boolean;
  heartbeatSeconds: number;
  staleSeconds: number;
  drainSeconds: number;
  graceSeconds: number;
  logBytesPerRun: number;
  logLevel: LogLevel;
}

/** Its message is one sentence for the person who started the worker. */
export class ConfigError extends Error {}

/**
 * Reads the worker's environment variables; apps/worker/README.md lists them.
 *
 * @throws ConfigError that names the first variable that is wrong and what it must be
 */
export function readConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const read = new Reader(env);
  const dataDir = resolve(read.text('DROVER_WORKER_DATA_DIR') ?? '.drover/worker');
  const heartbeatSeconds = read.integer('DROVER_WORKER_HEARTBEAT_SECONDS', 10, [1, 3600]);
  const staleSeconds = read.integer('DROVER_WORKER_STALE_SECONDS', 45, [2, 86_400]);
  if (staleSeconds <= heartbeatSeconds) {
    throw new ConfigError(
      'DROVER_WORKER_STALE_SECONDS must be greater than DROVER_WORKER_HEARTBEAT_SECONDS.',
    );
  }
  return {
    apiUrl: read.apiUrl(),
    credentials: read.credentials(),
    agentId: read.agentId(),
    name: read.name(),
    capabilities: read.list('DROVER_WORKER_CAPABILITIES', ','),
    concurrency: read.integer('DROVER_WORKER_CONCURRENCY', 1, [1, 100]),
    dataDir,
    workDir: resolve(read.text('DROVER_WORKER_WORK_DIR') ?? `${dataDir}/runs`),
    allowedDirs: read.absolutePaths('DROVER_WORKER_ALLOWED_DIRS'),
    passEnv: read.list('DROVER_WORKER_PASS_ENV', ','),
    keepRuns: read.oneOf('DROVER_WORKER_KEEP_RUNS', ['never', 'failed', 'always'], 'never'),
    deregister: read.deregister(),
    heartbeatSeconds,
    staleSeconds,
    drainSeconds: read.integer('DROVER_WORKER_DRAIN_SECONDS', 10, [0, 86_400]),
    graceSeconds: read.integer('DROVER_WORKER_GRACE_SECONDS', 10, [0, 3600]),
    logBytesPerRun: read.integer('DROVER_WORKER_LOG_BYTES', 1_048_576, [16_384, 67_108_864]),
    logLevel: read.oneOf('DROVER_WORKER_LOG_LEVEL', LOG_LEVELS, 'info'),
  };
}

class Reader {
  constructor(private readonly env: NodeJS.ProcessEnv) {}

  /** An empty variable counts as absent, as compose files and unit files write it so. */
  text(name: string): string | undefined {
    return this.env[name]?.trim() || undefined;
  }

  list(name: string, separator: string): string[] {
    const parts = (this.text(name) ?? '').split(separator).map((part) => part.trim());
    return parts.filter((part) => part !== '');
  }

  integer(name: string, fallback: number, [min, max]: [number, number]): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new ConfigError(`${name} must be a whole number from ${min} to ${max}.`);
    }
    return value;
  }

  oneOf<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const found = values.find((value) => value === text);
    if (found === undefined) throw new ConfigError(`${name} must be one of ${values.join(', ')}.`);
    return found;
  }

  absolutePaths(name: string): string[] {
    const paths = this.list(name, ':');
    const relative = paths.find((path) => !isAbsolute(path));
    if (relative !== undefined) {
      throw new ConfigError(`${name} must hold absolute paths only, but one is "${relative}".`);
    }
    return paths.map((path) => resolve(path));
  }

  apiUrl(): string {
    const text = this.text('DROVER_API_URL');
    const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
      throw new ConfigError(
        'DROVER_API_URL must be the address of the server, such as http://127.0.0.1:3000.',
      );
    }
    const path = url.pathname.replace(/(?<!\/)\/+$/, '');
    return `${url.origin}${path === '' ? '/api/v1' : path}`;
  }

  name(): string {
    const name = this.text('DROVER_WORKER_NAME') ?? hostname();
    // It becomes part of a file name.
    if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) return name;
    throw new ConfigError(
      'DROVER_WORKER_NAME must be at most 100 letters, digits, dots, dashes and underscores.',
    );
  }

  agentId(): string | undefined {
    const id = this.text('DROVER_AGENT_ID');
    if (id !== undefined && !isUuid(id)) throw new ConfigError('DROVER_AGENT_ID must be a UUID.');
    return id;
  }

  // An id that somebody chose is meant to be used again, and a terminated agent never comes back.
  deregister(): boolean {
    const fallback = this.agentId() === undefined ? 'true' : 'false';
    return this.oneOf('DROVER_WORKER_DEREGISTER', ['true', 'false'], fallback) === 'true';
  }

  credentials(): Credentials {
    const key = this.text('DROVER_API_KEY');
    if (key !== undefined) {
      return { kind: 'key', key, workspaceId: this.text('DROVER_WORKSPACE_ID') };
    }
    const token = this.text('DROVER_AGENT_TOKEN');
    const tokenFile = this.text('DROVER_AGENT_TOKEN_FILE');
    if (token === undefined && tokenFile === undefined) {
      throw new ConfigError(
        'Set DROVER_API_KEY, or DROVER_AGENT_TOKEN (or DROVER_AGENT_TOKEN_FILE) with DROVER_AGENT_ID.',
      );
    }
    if (this.agentId() === undefined) {
      throw new ConfigError(
        'An agent token needs DROVER_AGENT_ID, the agent that it was made for.',
      );
    }
    return { kind: 'agent', token, tokenFile };
  }
}
