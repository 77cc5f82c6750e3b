import { resolve } from 'node:path';
import { z } from 'zod';
import {
  apiAddress,
  SANDBOX_VARIABLES,
  sandboxSettings,
  searchPathOf,
  variablesOf,
} from '#lib/agent-host';
import { DRIVER_KINDS, type SessionUser } from '#lib/session-runtime';
import { flag, integer, list, oneOf, readVariables, webAddress, webAddresses } from '#lib/env';

const secret = z
  .string({
    error: 'is missing: the same text of at least 32 characters that the server has',
  })
  .min(32, 'must have at least 32 characters');

const vector = z.array(z.string()).min(1);

const commandVector = z.string().transform((text, context) => {
  try {
    return vector.parse(JSON.parse(text));
  } catch {
    const message = 'must be an argument vector in JSON, as in ["node","/srv/agent.mjs"]';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
});

/** Every variable of the gateway, with unit and default. docs/settings.md has the table. */
export const environment = z.object({
  /**
   * Address of the server; several addresses of one installation are separated by commas. `/api/v1`
   * is added if it is missing.
   */
  DROVER_API_URL: webAddresses('of the server'),
  /**
   * Path of the Unix socket on which the server listens. The gateway uses it instead of the
   * address.
   */
  DROVER_API_SOCKET: z.string().optional(),
  /** The server's address for sessions. Default: the address that the server names. */
  GATEWAY_SESSIONS_API_URL: webAddress('of the server').optional(),
  /** Secret with which server and gateway authenticate each other, the same at both. */
  GATEWAY_SECRET: secret,
  /** Name of the gateway at the server. Default: created once in the data folder. */
  GATEWAY_ID: z
    .string()
    .regex(/^[\w.:-]{1,100}$/, 'must be 1 to 100 letters, digits or . : _ -')
    .optional(),
  /** Records and folders of sessions, for one gateway at a time. Only its user can read it. */
  GATEWAY_DATA_DIR: z.string().default('.drover/gateway'),
  /**
   * Programs that sessions can start, exactly as commands name them, separated by commas. Default:
   * all.
   */
  GATEWAY_ALLOWED_EXECUTABLES: list.optional(),
  /** The command of sessions that are requested without one, as a JSON array. */
  GATEWAY_DEFAULT_COMMAND: commandVector.optional(),
  /** The driver of new sessions. Live sessions stay with their driver. */
  GATEWAY_DRIVER: oneOf(DRIVER_KINDS).default('process'),
  /**
   * The user of all sessions, as `uid:gid`, for a gateway that runs as root. Default:
   * DROVER_ACCOUNTS decides.
   */
  GATEWAY_SESSIONS_USER: z
    .string()
    .regex(
      /^[1-9]\d{0,8}:[1-9]\d{0,8}$/,
      'must be the numbers of a user and a group, as in 1500:1500',
    )
    .refine(() => process.getuid?.() === 0, 'needs a gateway that runs as root')
    .optional(),
  /** Names of the gateway's variables that sessions receive, such as a model provider's key. */
  GATEWAY_PASS_ENV: list.default([]),
  /** Ids of the workspaces that get sessions here, separated by commas. Default: all. */
  GATEWAY_WORKSPACES: list.optional(),
  /** Serve several workspaces, although their sessions can read each other's files and secrets. */
  ALLOW_UNSANDBOXED_TENANTS: flag.default(false),
  ...SANDBOX_VARIABLES,

  /** Address to listen on. */
  HOST: z.string().default('127.0.0.1'),
  /** Port to listen on. */
  PORT: integer(8787, 0, 65_535),
  /**
   * Number of listening sockets that the gateway inherits, from descriptor 3 on, as systemd's
   * socket activation hands them over. HOST and PORT then do not apply.
   */
  LISTEN_FDS: integer(0, 0, 16),
  /** Lowest level that is logged. */
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),

  /** Number of sessions at once. */
  MAX_CONCURRENT_WORKERS: integer(10, 1, 1_000),
  /** Maximum time of a session in the queue. */
  WORKER_CREATION_TIMEOUT: integer(300, 1, 86_400),
  /**
   * Number of sessions in the queue. At most 2,500, so that a heartbeat stays below the server's 1
   * MiB.
   */
  GATEWAY_QUEUE_LIMIT: integer(1_000, 0, 2_500),
  /** Time between SIGTERM and SIGKILL, unless a request names another. */
  GATEWAY_GRACE_SECONDS: integer(10, 0, 3_600),
  /** Time for a session to exit by itself after its run was completed. */
  GATEWAY_EXIT_GRACE_SECONDS: integer(30, 0, 3_600),
  /** Time between heartbeats. */
  GATEWAY_HEARTBEAT_SECONDS: integer(10, 1, 3_600),
  /** Time for the whole shutdown. */
  SHUTDOWN_DEADLINE_SECONDS: integer(30, 1, 86_400),
  /** Bearer token for /metrics, at least 16 characters. Without it nobody can read /metrics. */
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  /** Time for which an ended session is remembered, of 2,000 sessions at most. */
  GATEWAY_RETENTION_HOURS: integer(24, 1, 8_760),
});

export type GatewayConfig = ReturnType<typeof toConfig>;

/**
 * Reads the gateway's environment variables.
 *
 * @throws Error that names every wrong variable, one a line
 */
export function loadGatewayConfig(env: NodeJS.ProcessEnv): GatewayConfig {
  return toConfig(readVariables(environment, env), env);
}

function toConfig(env: z.infer<typeof environment>, all: NodeJS.ProcessEnv) {
  const dataDir = resolve(env.GATEWAY_DATA_DIR);
  return {
    apiUrls: env.DROVER_API_URL.map(apiAddress),
    apiSocket: env.DROVER_API_SOCKET,
    sessionsApiUrl:
      env.GATEWAY_SESSIONS_API_URL === undefined
        ? undefined
        : apiAddress(env.GATEWAY_SESSIONS_API_URL),
    secret: env.GATEWAY_SECRET,
    gatewayId: env.GATEWAY_ID,
    dataDir,
    allowedExecutables: env.GATEWAY_ALLOWED_EXECUTABLES,
    defaultCommand: env.GATEWAY_DEFAULT_COMMAND,
    searchPath: searchPathOf(all),
    passedEnv: variablesOf(all, env.GATEWAY_PASS_ENV),
    trust: variablesOf(all, ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA']),
    driver: env.GATEWAY_DRIVER,
    workspaces: env.GATEWAY_WORKSPACES,
    allowUnsandboxedTenants: env.ALLOW_UNSANDBOXED_TENANTS,
    isolation: sandboxSettings(env, dataDir, all, toUser(env.GATEWAY_SESSIONS_USER)),
    http: { host: env.HOST, port: env.PORT, inheritedSockets: env.LISTEN_FDS },
    metricsToken: env.METRICS_TOKEN,
    logLevel: env.LOG_LEVEL,
    capacity: env.MAX_CONCURRENT_WORKERS,
    queueSeconds: env.WORKER_CREATION_TIMEOUT,
    queueLimit: env.GATEWAY_QUEUE_LIMIT,
    graceSeconds: env.GATEWAY_GRACE_SECONDS,
    exitGraceSeconds: env.GATEWAY_EXIT_GRACE_SECONDS,
    heartbeatSeconds: env.GATEWAY_HEARTBEAT_SECONDS,
    shutdownSeconds: env.SHUTDOWN_DEADLINE_SECONDS,
    retentionHours: env.GATEWAY_RETENTION_HOURS,
  };
}

function toUser(text: string | undefined): SessionUser | undefined {
  const [uid, gid] = text?.split(':').map(Number) ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}
