import { createSecretKey } from 'node:crypto';
import { validateCronExpression } from 'cron';
import { z } from 'zod';
import { flag, integer, list, oneOf, readVariables, webAddress } from '#lib/env';
import { mailSender, mailServer } from './mail.js';
import { networks, trustedProxies } from './networks.js';

const ROLES = ['api', 'coordinator', 'relay'] as const;
const GATEWAY_PROTOCOLS = ['drover', 'basic'] as const;

const MASTER_KEY = /^([\w-]{1,64}):([A-Za-z0-9+/_-]{43}=?)$/;

/** `id:base64` of 32 bytes each. As key objects, which no log or inspection shows. */
const masterKeys = z
  .string({
    error:
      'is missing: an id and 32 random bytes in base64, such as `echo k1:$(openssl rand -base64 32)` makes',
  })
  .transform((value, context) => {
    const keys = value.split(',').flatMap((part) => {
      const [, id, bytes] = MASTER_KEY.exec(part.trim()) ?? [];
      return id && bytes ? [{ id, key: createSecretKey(Buffer.from(bytes, 'base64')) }] : [];
    });
    const ids = new Set(keys.map(({ id }) => id));
    if (keys.length === value.split(',').length && ids.size === keys.length) return keys;
    context.addIssue({
      code: 'custom',
      message: 'must be id:base64 of 32 bytes, with an id of its own for each, separated by commas',
    });
    return z.NEVER;
  });

const signingSecret = z
  .string({
    error: 'is missing: any text of at least 32 characters, such as `openssl rand -hex 24` makes',
  })
  .min(32, 'must have at least 32 characters');

const seconds = (fallback: number, min = 1, max = 31_536_000) => integer(fallback, min, max);

/** Every variable that the server reads, with its unit and default. */
export const variables = z.object({
  /** Signs in as drover_app, under row-level security. */
  DATABASE_URL: z.url({ error: 'must be a postgres:// URL that signs in as drover_app' }),
  /** Signs in as drover_service, which coordinates all tenants. */
  DATABASE_SERVICE_URL: z.url({
    error: 'must be a postgres:// URL that signs in as drover_service',
  }),
  /** Owner of the tables; only `migrate` needs it. */
  DATABASE_OWNER_URL: z
    .url({ error: 'must be a postgres:// URL that signs in as the owner of the tables' })
    .optional(),
  /** Connections of drover_app that one server opens at most. */
  DATABASE_MAX_CONNECTIONS: integer(20, 2, 1000),
  /** Connections of drover_service that one server opens at most. */
  DATABASE_SERVICE_MAX_CONNECTIONS: integer(10, 2, 1000),
  /** Longest time of one statement. */
  DATABASE_STATEMENT_TIMEOUT_MS: integer(30_000, 100, 3_600_000),
  /** Whether a starting server migrates, or refuses to start on an older database. */
  MIGRATE_AT_START: flag.default(false),

  /** With the password in it: redis://:password@host:6379. */
  VALKEY_URL: z.url({ error: 'must be a redis:// or valkey:// URL' }),
  /** Before every key, where installations share one Valkey. */
  VALKEY_KEY_PREFIX: z.string().max(64).default(''),

  /** Address to listen on. */
  HOST: z.string().default('127.0.0.1'),
  /** Port to listen on; 0: a free one. */
  PORT: integer(3000, 0, 65_535),
  /** The server's address as sessions of push agents and the API document are told it; else that of HOST and PORT. */
  PUBLIC_URL: webAddress('under which agents and users reach the server').optional(),
  /** Which parts run in this process. */
  ROLES: list
    .pipe(z.array(oneOf(ROLES)).min(1, `must be one or more of ${ROLES.join(', ')}`))
    .default(['api', 'coordinator', 'relay']),
  /** Name of this server in the log. */
  INSTANCE_ID: z.string().max(100).optional(),
  /** The least grave lines that are logged. */
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** At least 16 characters; the bearer token that may read /metrics. Without it nobody may. */
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  /** Where spans are sent (OTLP over HTTP, without /v1/traces); without it nothing is traced. The same in all servers. */
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress('of an OpenTelemetry collector').optional(),
  /** The proxies before the server; without it all clients behind one share the limits of its address. */
  TRUST_PROXY: trustedProxies.default([]),
  /** Connections at once; the next is closed as soon as it is there. */
  HTTP_MAX_CONNECTIONS: integer(20_000, 10, 1_000_000),
  /** For a request to arrive, its body included. */
  HTTP_REQUEST_TIMEOUT_SECONDS: seconds(30, 1, 600),
  /** Between two requests of a connection. */
  HTTP_KEEP_ALIVE_SECONDS: seconds(72, 1, 600),
  /** Streams of events and logs at once, of all callers of one server. */
  MAX_STREAMS: integer(5_000, 0, 1_000_000),
  /** The same of one user, API key, agent or run. */
  MAX_STREAMS_PER_CALLER: integer(20, 0, 1_000_000),
  /** How long a shutdown may take at most. */
  SHUTDOWN_DEADLINE_SECONDS: seconds(30),
  /** After a signal the server serves on for so long, not ready any more: time for balancers to notice. */
  SHUTDOWN_DELAY_SECONDS: seconds(0, 0, 600),

  /** At least 32 characters; signs access, agent and run tokens. */
  JWT_SECRET: signingSecret,
  /** Earlier secrets, still accepted for verification, separated by commas. */
  JWT_PREVIOUS_SECRETS: list.pipe(z.array(signingSecret)).default([]),
  /** Wrap the keys that seal secrets in the database: `id:base64,...`, the current one first. */
  ENCRYPTION_KEYS: masterKeys,
  /** Ids of lost master keys: the data keys that they wrapped stay unreadable. */
  ENCRYPTION_LOST_KEYS: list.default([]),
  /** After these a new data key is made, and the secrets of the old one are resealed. */
  DATA_KEY_MAX_AGE_DAYS: integer(90, 1, 3_650),
  /** The issuer named in tokens of our own. */
  JWT_ISSUER: z.string().default('drover'),
  /** How long an access token is good. */
  ACCESS_TOKEN_SECONDS: seconds(900),
  /** How long a refresh token is good. */
  REFRESH_TOKEN_SECONDS: seconds(30 * 86_400),
  /** How long an agent token is good. */
  AGENT_TOKEN_SECONDS: seconds(90 * 86_400),
  /** How long a run token is good at most; it ends with its run. */
  RUN_TOKEN_SECONDS: seconds(7 * 86_400),
  /** Attempts to sign in, by address and by account. */
  LOGIN_ATTEMPTS_PER_MINUTE: integer(10, 1, 10_000),
  /** Requests of one user, API key, agent or run, in the mean of 10 s; 0: no limit. */
  REQUESTS_PER_SECOND_PER_TOKEN: integer(1_000, 0, 1_000_000),
  /** Requests of all users and API keys of a workspace, in the mean of 10 s; 0: no limit. */
  REQUESTS_PER_SECOND_PER_WORKSPACE: integer(5_000, 0, 1_000_000),
  /** Requests of one address without good credentials, in the mean of 10 s; 0: no limit. */
  REQUESTS_PER_SECOND_PER_ADDRESS: integer(500, 0, 1_000_000),
  /** Another issuer of user tokens; discovery is read from its well-known path. */
  OIDC_ISSUER: webAddress('of the issuer').optional(),
  /** The audience that tokens of OIDC_ISSUER must have. */
  OIDC_AUDIENCE: z.string().optional(),
  /** May anybody sign up? Otherwise an operator makes the users. */
  OPEN_SIGN_UP: flag.default(false),

  /** Where push agents' sessions are spawned; goes with GATEWAY_SECRET. Without both they get no tasks. */
  GATEWAY_URL: webAddress('of the gateway').optional(),
  /** At least 32 characters, the same at the gateway: server and gateway prove themselves with it. */
  GATEWAY_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  /** What the gateway speaks: all that docs/write-a-gateway.md has, or its spawn request alone, with GATEWAY_SECRET as its token. */
  GATEWAY_PROTOCOL: oneOf(GATEWAY_PROTOCOLS).default('drover'),
  /** Sessions at once at a gateway of the basic protocol; another says by itself how many it has room for. */
  GATEWAY_CAPACITY: integer(10, 1, 100_000),
  /** How long one call to the gateway may take. */
  GATEWAY_TIMEOUT_MS: integer(10_000, 100, 120_000),
  /** A gateway that was unresponsive for longer is not given sessions. */
  GATEWAY_STALE_SECONDS: seconds(45, 2, 3_600),
  /** Calls for one session at most. */
  SPAWN_ATTEMPTS: integer(5, 1, 100),
  /** How long the calls for one session may go on; then the run fails. */
  SPAWN_DEADLINE_SECONDS: seconds(60, 1, 3_600),

  /** Tasks of one workspace that may wait, unless the workspace has a limit of its own; 0: no limit. */
  MAX_QUEUE_DEPTH_PER_WORKSPACE: integer(1_000_000, 0, 1_000_000_000),
  /** Sessions that are spawned in a minute, of all workspaces together; 0: no limit. */
  SPAWNS_PER_MINUTE: integer(600, 0, 1_000_000),

  /** How long the journal is kept: the history of tasks, and the events for readers that come back to them. */
  JOURNAL_RETENTION_DAYS: integer(365, 1, 36_500),
  /** Networks that webhooks may be sent to beside public addresses: there also with plain http and on any port. */
  WEBHOOK_ALLOWED_NETWORKS: networks('that webhooks may be sent to').default([]),
  /** For one attempt to send a webhook, from its name's resolution to the end of the answer. */
  WEBHOOK_TIMEOUT_MS: integer(10_000, 100, 30_000),
  /** Webhooks that a workspace may have, and inbound hooks beside them. */
  MAX_WEBHOOKS_PER_WORKSPACE: integer(50, 1, 10_000),
  /** How long the audit log is kept. */
  AUDIT_RETENTION_DAYS: integer(365, 1, 36_500),
  /** For how long the deliveries of webhooks are kept, with their attempts, and what came of events for inbound hooks. */
  WEBHOOK_RETENTION_DAYS: integer(30, 2, 3_650),
  /** With its password: smtps://user:password@host:465, or smtp:// with STARTTLS; `?tls=none` goes without. Goes with MAIL_FROM. */
  SMTP_URL: mailServer.optional(),
  /** The sender of e-mail: an address, or `Name <address>`. */
  MAIL_FROM: mailSender.optional(),
  /** Six fields, seconds first; five of the usual kind are taken too. */
  COORDINATOR_CRON: z
    .string()
    .refine(
      (text) => validateCronExpression(text).valid,
      'must be a cron expression, such as */30 * * * * * for every half minute',
    )
    .default('*/30 * * * * *'),
  /** After so long without a word of the leader's another server leads. */
  COORDINATOR_LOCK_TTL_SECONDS: seconds(15, 3, 600),
  /** How often the leader looks for what should not be: inconsistent states, cycles of dependencies. */
  RECONCILE_INTERVAL_SECONDS: seconds(60, 1, 86_400),
  /** The longest wait before a retry. */
  RETRY_BACKOFF_CAP_SECONDS: seconds(3_600),
  /** The timeoutSeconds of tasks that are created without any; 0: they have none. */
  DEFAULT_TIMEOUT_SECONDS: seconds(0, 0, 2_592_000),
  /** The lease of a claim by an agent that sends no heartbeats. */
  DEFAULT_LEASE_SECONDS: seconds(1_800),
  /** Subtasks that the runs of one task may create; 0: none. */
  MAX_SUBTASKS_PER_TASK: integer(100, 0, 1_000),
  /** How many tasks may be above a subtask, each created by a run of the one before. */
  MAX_SUBTASK_DEPTH: integer(5, 0, 100),
  /** A run this long past its task's estimate, and without progress for as long, is warned. */
  HUNG_AFTER_SECONDS: seconds(1_800),
  /** One that makes no progress this long after its warning is aborted, and its task retried. */
  HUNG_ABORT_AFTER_SECONDS: seconds(600),
  /** How often such a lease may be renewed. */
  MAX_CLAIM_RENEWALS: integer(10, 0, 10_000),
  /** How often heartbeats are written to Postgres. */
  HEARTBEAT_FLUSH_MS: integer(1_000, 50, 10_000),
  /** The history of an agent's heartbeats has one of each so many seconds; 0: none is kept. */
  HEARTBEAT_HISTORY_SECONDS: integer(60, 0, 86_400),
  /** How long that history is kept. */
  HEARTBEAT_RETENTION_DAYS: integer(7, 1, 3_650),
  /** How long reports of usage are kept that no present budget counts; the sums of the history stay. */
  USAGE_RETENTION_DAYS: integer(400, 31, 36_500),
  /** Between SIGTERM and SIGKILL of a cancelled task. */
  CANCEL_GRACE_SECONDS: seconds(10, 1, 600),
});

const environment = variables
  .superRefine(mailNeedsBoth)
  .superRefine(
    ({ GATEWAY_URL: url, GATEWAY_SECRET: secret, GATEWAY_PROTOCOL: protocol }, context) => {
      if (url === undefined && secret === undefined && protocol === 'basic') {
        const message = 'is missing, and GATEWAY_PROTOCOL is "basic"';
        return context.addIssue({ code: 'custom', path: ['GATEWAY_URL'], message });
      }
      if ((url === undefined) === (secret === undefined)) return;
      const [missing, set] =
        url === undefined ? ['GATEWAY_URL', 'GATEWAY_SECRET'] : ['GATEWAY_SECRET', 'GATEWAY_URL'];
      const message = `is missing, and ${set} is set: push agents need both, without them neither`;
      context.addIssue({ code: 'custom', path: [missing], message });
    },
  );

function mailNeedsBoth(
  { SMTP_URL: server, MAIL_FROM: from }: z.infer<typeof variables>,
  context: z.RefinementCtx,
): void {
  if ((server === undefined) === (from === undefined)) return;
  const [missing, set] = server ? ['MAIL_FROM', 'SMTP_URL'] : ['SMTP_URL', 'MAIL_FROM'];
  const message = `is missing, and ${set} is set: e-mail needs both`;
  context.addIssue({ code: 'custom', path: [missing], message });
}

/** Names of all variables that the server reads. */
export const VARIABLES: readonly string[] = Object.keys(variables.shape);

export type Config = ReturnType<typeof toConfig>;

/**
 * Reads the environment. Times keep the unit that their name carries.
 *
 * @throws Error that names every wrong variable, one a line
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  return toConfig(readVariables(environment, env));
}

function toConfig(env: z.infer<typeof environment>) {
  return {
    database: {
      appUrl: env.DATABASE_URL,
      serviceUrl: env.DATABASE_SERVICE_URL,
      ownerUrl: env.DATABASE_OWNER_URL,
      maxAppConnections: env.DATABASE_MAX_CONNECTIONS,
      maxServiceConnections: env.DATABASE_SERVICE_MAX_CONNECTIONS,
      statementTimeoutMs: env.DATABASE_STATEMENT_TIMEOUT_MS,
      migrateAtStart: env.MIGRATE_AT_START,
      /** Whether PgBouncer stands before it, which is found out at start. */
      pooled: false,
    },
    valkey: { url: env.VALKEY_URL, keyPrefix: env.VALKEY_KEY_PREFIX },
    http: {
      host: env.HOST,
      port: env.PORT,
      publicUrl: env.PUBLIC_URL,
      trustedProxies: env.TRUST_PROXY,
      limits: {
        maxConnections: env.HTTP_MAX_CONNECTIONS,
        requestMs: env.HTTP_REQUEST_TIMEOUT_SECONDS * 1_000,
        keepAliveMs: env.HTTP_KEEP_ALIVE_SECONDS * 1_000,
      },
      maxStreams: env.MAX_STREAMS,
      maxStreamsPerCaller: env.MAX_STREAMS_PER_CALLER,
      metricsToken: env.METRICS_TOKEN,
      shutdownDeadlineSeconds: env.SHUTDOWN_DEADLINE_SECONDS,
      shutdownDelaySeconds: env.SHUTDOWN_DELAY_SECONDS,
    },
    roles: env.ROLES,
    instanceId: env.INSTANCE_ID,
    logLevel: env.LOG_LEVEL,
    /** Of an OpenTelemetry collector; undefined: nothing is traced. */
    tracesTo: env.OTEL_EXPORTER_OTLP_ENDPOINT,
    identity: {
      jwtSecret: env.JWT_SECRET,
      jwtPreviousSecrets: env.JWT_PREVIOUS_SECRETS,
      jwtIssuer: env.JWT_ISSUER,
      accessTokenSeconds: env.ACCESS_TOKEN_SECONDS,
      refreshTokenSeconds: env.REFRESH_TOKEN_SECONDS,
      agentTokenSeconds: env.AGENT_TOKEN_SECONDS,
      runTokenSeconds: env.RUN_TOKEN_SECONDS,
      loginAttemptsPerMinute: env.LOGIN_ATTEMPTS_PER_MINUTE,
      requestsPerSecond: {
        token: env.REQUESTS_PER_SECOND_PER_TOKEN,
        workspace: env.REQUESTS_PER_SECOND_PER_WORKSPACE,
        address: env.REQUESTS_PER_SECOND_PER_ADDRESS,
      },
      oidcIssuer: env.OIDC_ISSUER,
      oidcAudience: env.OIDC_AUDIENCE,
      openSignUp: env.OPEN_SIGN_UP,
    },
    encryption: {
      masterKeys: env.ENCRYPTION_KEYS,
      lostMasterKeys: env.ENCRYPTION_LOST_KEYS,
      dataKeyMaxAgeDays: env.DATA_KEY_MAX_AGE_DAYS,
    },
    tasks: {
      retryBackoffCapSeconds: env.RETRY_BACKOFF_CAP_SECONDS,
      defaultTimeoutSeconds: env.DEFAULT_TIMEOUT_SECONDS || undefined,
      defaultLeaseSeconds: env.DEFAULT_LEASE_SECONDS,
      maxClaimRenewals: env.MAX_CLAIM_RENEWALS,
      maxSubtasksPerTask: env.MAX_SUBTASKS_PER_TASK,
      maxSubtaskDepth: env.MAX_SUBTASK_DEPTH,
      hungAfterSeconds: env.HUNG_AFTER_SECONDS,
      hungAbortAfterSeconds: env.HUNG_ABORT_AFTER_SECONDS,
      cancelGraceSeconds: env.CANCEL_GRACE_SECONDS,
    },
    agents: {
      heartbeatFlushMs: env.HEARTBEAT_FLUSH_MS,
      heartbeatHistorySeconds: env.HEARTBEAT_HISTORY_SECONDS,
      heartbeatRetentionDays: env.HEARTBEAT_RETENTION_DAYS,
    },
    gateway: {
      url: env.GATEWAY_URL,
      secret: env.GATEWAY_SECRET,
      /** Whether it speaks the spawn request alone: it sends no heartbeats, reports and proofs. */
      isBasic: env.GATEWAY_PROTOCOL === 'basic',
      capacity: env.GATEWAY_CAPACITY,
      timeoutMs: env.GATEWAY_TIMEOUT_MS,
      staleSeconds: env.GATEWAY_STALE_SECONDS,
      spawnAttempts: env.SPAWN_ATTEMPTS,
      spawnDeadlineSeconds: env.SPAWN_DEADLINE_SECONDS,
    },
    admission: {
      maxQueueDepth: env.MAX_QUEUE_DEPTH_PER_WORKSPACE,
      spawnsPerMinute: env.SPAWNS_PER_MINUTE,
    },
    journal: { retentionDays: env.JOURNAL_RETENTION_DAYS },
    audit: { retentionDays: env.AUDIT_RETENTION_DAYS },
    webhooks: {
      allowedNetworks: env.WEBHOOK_ALLOWED_NETWORKS,
      timeoutMs: env.WEBHOOK_TIMEOUT_MS,
      maxPerWorkspace: env.MAX_WEBHOOKS_PER_WORKSPACE,
      retentionDays: env.WEBHOOK_RETENTION_DAYS,
    },
    /** Undefined: the server sends no e-mail. */
    mail: env.SMTP_URL && env.MAIL_FROM ? { server: env.SMTP_URL, from: env.MAIL_FROM } : undefined,
    usage: { retentionDays: env.USAGE_RETENTION_DAYS },
    coordinator: {
      cron: env.COORDINATOR_CRON,
      lockTtlSeconds: env.COORDINATOR_LOCK_TTL_SECONDS,
      reconcileIntervalSeconds: env.RECONCILE_INTERVAL_SECONDS,
    },
  };
}
