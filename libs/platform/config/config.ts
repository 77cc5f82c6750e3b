import { createSecretKey } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { validateCronExpression } from 'cron';
import { z } from 'zod';
import { flag, folders, integer, list, oneOf, readVariables, webAddress } from '#lib/env';
import { mailSender, mailServer } from './mail.js';
import { groupRoles, networks, trustedProxies } from './values.js';

const ROLES = ['api', 'coordinator', 'relay'] as const;
const GATEWAY_PROTOCOLS = ['drover', 'basic'] as const;

const MIB = 1_048_576;

const MASTER_KEY = /^([\w-]{1,64}):([A-Za-z0-9+/_-]{43}=?)$/;

/** `id:base64` of 32 bytes each. They become key objects, which no log or inspection shows. */
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

/** A URL without a default. The settings page has the rule. */
const requiredUrl = (rule: string) =>
  z.url({ error: ({ input }) => `${input === undefined ? 'is missing: it ' : ''}must be ${rule}` });

/** The maximum for tokens too, so that none outlives a year, whatever the setting was. */
export const MAX_LIFETIME_SECONDS = 31_536_000;
const seconds = (fallback: number, min = 1, max = MAX_LIFETIME_SECONDS) =>
  integer(fallback, min, max);

/** Every variable that the server reads, with its unit and default. */
export const variables = z.object({
  /** Signs in as drover_app, under row-level security. */
  DATABASE_URL: requiredUrl('a postgres:// URL that signs in as drover_app'),
  /** Signs in as drover_service, which serves coordinator and relay for all tenants. */
  DATABASE_SERVICE_URL: requiredUrl('a postgres:// URL that signs in as drover_service'),
  /** Signs in as the owner of the tables. Only `migrate` needs it. */
  DATABASE_OWNER_URL: z
    .url({ error: 'must be a postgres:// URL that signs in as the owner of the tables' })
    .optional(),
  /** Maximum number of connections of drover_app for one server. */
  DATABASE_MAX_CONNECTIONS: integer(20, 2, 1000),
  /** Maximum number of connections of drover_service for one server. */
  DATABASE_SERVICE_MAX_CONNECTIONS: integer(10, 2, 1000),
  /** Time limit for one statement. */
  DATABASE_STATEMENT_TIMEOUT_MS: integer(30_000, 100, 3_600_000),
  /** Migrate at the start. Otherwise a server refuses to start on an older database. */
  MIGRATE_AT_START: flag.default(false),

  /** Address of Valkey, including the password: redis://:password@host:6379. */
  VALKEY_URL: requiredUrl('a redis:// or valkey:// URL'),
  /** Prefix of every key, for installations that share one Valkey. */
  VALKEY_KEY_PREFIX: z.string().max(64).default(''),
  /**
   * Keep views of tasks, runs and agents in Valkey for other programs. Use the same value for all
   * servers.
   */
  VALKEY_VIEWS: flag.default(false),

  /** Address to listen on. */
  HOST: z.string().default('127.0.0.1'),
  /** Port to listen on. 0 selects a free port. */
  PORT: integer(3000, 0, 65_535),
  /**
   * Number of listening sockets that systemd's socket activation hands over, from descriptor 3 on.
   * HOST and PORT then only tell others the address.
   */
  LISTEN_FDS: integer(0, 0, 16),
  /**
   * The server's address in the API document and for sessions of push agents. Default: HOST and
   * PORT.
   */
  PUBLIC_URL: webAddress('under which agents and users reach the server').optional(),
  /** The parts that run in this process. */
  ROLES: list
    .pipe(z.array(oneOf(ROLES)).min(1, `must be one or more of ${ROLES.join(', ')}`))
    .default(['api', 'coordinator', 'relay']),
  /** Name of this server in the log. */
  INSTANCE_ID: z.string().max(100).optional(),
  /** Lowest level that is logged. */
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** Bearer token for /metrics, at least 16 characters. Without it nobody can read /metrics. */
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  /**
   * Address of an OpenTelemetry collector (OTLP over HTTP, without /v1/traces), the same for all
   * servers. Without it nothing is traced.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress('of an OpenTelemetry collector').optional(),
  /**
   * Addresses of the proxies in front of the server. Without it all clients of a proxy share the
   * limits of its address.
   */
  TRUST_PROXY: trustedProxies.default([]),
  /** Maximum number of connections. The server closes further ones at once. */
  HTTP_MAX_CONNECTIONS: integer(20_000, 10, 1_000_000),
  /** Time limit for a request to arrive, including its body. */
  HTTP_REQUEST_TIMEOUT_SECONDS: seconds(30, 1, 600),
  /** Maximum time between two requests of a connection. */
  HTTP_KEEP_ALIVE_SECONDS: seconds(72, 1, 600),
  /** Maximum number of event and log streams at one server. */
  MAX_STREAMS: integer(5_000, 0, 1_000_000),
  /** Maximum number of streams of one user, API key, agent or run at one server. */
  MAX_STREAMS_PER_CALLER: integer(20, 0, 1_000_000),
  /** Maximum number of streams of one workspace at one server. */
  MAX_STREAMS_PER_WORKSPACE: integer(1_000, 0, 1_000_000),
  /** Time limit for a shutdown. */
  SHUTDOWN_DEADLINE_SECONDS: seconds(30),
  /**
   * Time for which the server continues to serve after a signal while /readyz answers 503.
   */
  SHUTDOWN_DELAY_SECONDS: seconds(0, 0, 600),

  /** Signs access, agent and run tokens. At least 32 characters. */
  JWT_SECRET: signingSecret,
  /** Earlier secrets that still verify tokens, separated by commas. */
  JWT_PREVIOUS_SECRETS: list.pipe(z.array(signingSecret)).default([]),
  /**
   * Master keys for the keys that encrypt secrets in the database: `id:base64,...`, the current one
   * first.
   */
  ENCRYPTION_KEYS: masterKeys,
  /** Ids of lost master keys. Data keys that they wrapped stay unreadable. */
  ENCRYPTION_LOST_KEYS: list.default([]),
  /** Age at which a data key is replaced and its secrets are encrypted with the new one. */
  DATA_KEY_MAX_AGE_DAYS: integer(90, 1, 3_650),
  /** Issuer in Drover's own tokens. */
  JWT_ISSUER: z.string().default('drover'),
  /** Lifetime of an access token. */
  ACCESS_TOKEN_SECONDS: seconds(900),
  /** Lifetime of a refresh token, and of a session of single sign-on. */
  REFRESH_TOKEN_SECONDS: seconds(30 * 86_400),
  /** Lifetime of an agent token. */
  AGENT_TOKEN_SECONDS: seconds(90 * 86_400),
  /** Maximum lifetime of a run token. It ends with its run. */
  RUN_TOKEN_SECONDS: seconds(7 * 86_400),
  /** Maximum number of sign-in attempts for each address and each account. */
  LOGIN_ATTEMPTS_PER_MINUTE: integer(10, 1, 10_000),
  /** Maximum number of sign-in attempts for each account from all addresses together. */
  LOGIN_ATTEMPTS_PER_HOUR: integer(100, 1, 100_000),
  /** Maximum number of workspaces that a user creates. Operators have no limit. */
  MAX_WORKSPACES_PER_USER: integer(100, 0, 1_000_000),
  /** Maximum number of valid API keys of a user in all workspaces. */
  MAX_API_KEYS_PER_USER: integer(200, 0, 1_000_000),
  /** Rate limit of one user, API key, agent or run, averaged over 10 s. 0 means no limit. */
  REQUESTS_PER_SECOND_PER_TOKEN: integer(1_000, 0, 1_000_000),
  /** Rate limit of all users and API keys of a workspace, averaged over 10 s. 0 means no limit. */
  REQUESTS_PER_SECOND_PER_WORKSPACE: integer(5_000, 0, 1_000_000),
  /**
   * Rate limit of requests without valid credentials from one address, averaged over 10 s. 0 means
   * no limit.
   */
  REQUESTS_PER_SECOND_PER_ADDRESS: integer(500, 0, 1_000_000),
  /** The OpenID Connect provider for single sign-on. Its well-known path is used for discovery. */
  OIDC_ISSUER: webAddress('of the issuer').optional(),
  /** Required audience of tokens of OIDC_ISSUER that the API accepts. Without it, it accepts none. */
  OIDC_AUDIENCE: z.string().optional(),
  /** Client at OIDC_ISSUER for single sign-on. Requires PUBLIC_URL. */
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  /** Secret of OIDC_CLIENT_ID. Without it the client is public, protected by PKCE alone. */
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  /** Scopes that single sign-on requests, separated by spaces. */
  OIDC_SCOPES: z.string().default('openid email profile'),
  /** Name of the provider on the button of the sign-in page. */
  OIDC_NAME: z.string().min(1).max(100).default('single sign-on'),
  /** Claim with the groups of the user. */
  OIDC_GROUPS_CLAIM: z.string().min(1).default('groups'),
  /**
   * Roles of groups in workspaces, by their slugs: `group=workspace:ROLE,...`. At each single sign-on
   * the groups alone decide the role of the user in the workspaces that are named here.
   */
  OIDC_GROUP_ROLES: groupRoles.default([]),
  /**
   * Create an account for everybody whom OIDC_ISSUER signs in. Otherwise only for invited users, and
   * for users with a role by OIDC_GROUP_ROLES. OPEN_SIGN_UP includes it.
   */
  OIDC_SIGN_UP: flag.default(false),
  /** Operators with a password need a second factor for all that only operators can do. */
  OPERATORS_NEED_SECOND_FACTOR: flag.default(false),
  /** Allow sign-in and sign-up with passwords. Otherwise only single sign-on. */
  PASSWORD_SIGN_IN: flag.default(true),
  /** Allow anybody to sign up. Otherwise an operator creates the users. */
  OPEN_SIGN_UP: flag.default(false),

  /**
   * Address of the gateway for push agents. Requires GATEWAY_SECRET. Without both, push agents get
   * no tasks.
   */
  GATEWAY_URL: webAddress('of the gateway').optional(),
  /**
   * Secret of server and gateway, the same at both, at least 32 characters.
   */
  GATEWAY_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  /**
   * Protocol of the gateway (docs/write-a-gateway.md). `basic`: only a spawn request, with
   * GATEWAY_SECRET as token.
   */
  GATEWAY_PROTOCOL: oneOf(GATEWAY_PROTOCOLS).default('drover'),
  /**
   * Maximum number of sessions at a gateway of the basic protocol. Others report their capacity.
   */
  GATEWAY_CAPACITY: integer(10, 1, 100_000),
  /** Time limit for one call to the gateway. */
  GATEWAY_TIMEOUT_MS: integer(10_000, 100, 120_000),
  /** A gateway that is unresponsive for longer gets no sessions. */
  GATEWAY_STALE_SECONDS: seconds(45, 2, 3_600),
  /** Maximum number of calls for one session. */
  SPAWN_ATTEMPTS: integer(5, 1, 100),
  /** Time limit for all calls for one session. Then the run fails. */
  SPAWN_DEADLINE_SECONDS: seconds(60, 1, 3_600),

  /** Key of Anthropic for the coding agents of all workspaces that have none of their own. */
  ANTHROPIC_API_KEY: z.string().min(1).optional(),
  /** Address of Anthropic's API, or of a gateway to it. */
  ANTHROPIC_BASE_URL: webAddress("of Anthropic's API").default('https://api.anthropic.com'),
  /** Key of OpenAI, likewise. */
  OPENAI_API_KEY: z.string().min(1).optional(),
  /** Address of OpenAI's API, or of a gateway to it. A final /v1 is ignored. */
  OPENAI_BASE_URL: webAddress("of OpenAI's API").default('https://api.openai.com'),
  /** Key of Gemini, likewise. */
  GEMINI_API_KEY: z.string().min(1).optional(),
  /** Address of Gemini's API, or of a gateway to it. */
  GOOGLE_GEMINI_BASE_URL: webAddress("of Gemini's API").default(
    'https://generativelanguage.googleapis.com',
  ),

  /**
   * Maximum number of waiting tasks in a workspace without a limit of its own. 0 means no limit.
   */
  MAX_QUEUE_DEPTH_PER_WORKSPACE: integer(1_000_000, 0, 1_000_000_000),
  /**
   * Maximum number of sessions that start in a minute, in all workspaces together. 0 means no
   * limit.
   */
  SPAWNS_PER_MINUTE: integer(600, 0, 1_000_000),

  /**
   * Size of the log of a run, in MiB, for the server that stores it. Further entries are dropped, and
   * the log says so. 0 means no limit.
   */
  LOG_MB_PER_RUN: integer(64, 0, 1_048_576),
  /**
   * Size of the logs of all runs of a workspace in a day (UTC), in MiB, for each server. 0 means no
   * limit.
   */
  LOG_MB_PER_WORKSPACE_AND_DAY: integer(10_240, 0, 1_073_741_824),
  /**
   * Folder of the artifacts of runs, on a file system that all servers share. A server removes
   * unknown files there, and refuses to start with the folder of another installation. Without it
   * runs keep no files.
   */
  ARTIFACTS_DIR: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
  /** Maximum size of an artifact in MiB. */
  ARTIFACT_MAX_MB: integer(50, 1, 10_240),
  /** Maximum size of all artifacts of a workspace in MiB. */
  ARTIFACT_QUOTA_MB: integer(1_024, 1, 1_073_741_824),
  /** Retention of artifacts. */
  ARTIFACT_RETENTION_DAYS: integer(30, 1, 36_500),
  /**
   * Folders whose git repositories can be named by their path, separated by colons. Hosts of
   * sessions need the same setting. `npm start` sets the folder in which it is called.
   */
  DROVER_REPOSITORY_PATHS: folders.default([]),
  /** Retention of the journal: the history of tasks, and events for readers that resume. */
  JOURNAL_RETENTION_DAYS: integer(365, 1, 36_500),
  /**
   * Networks that webhooks can reach beside public addresses, also by plain http, on any port.
   */
  WEBHOOK_ALLOWED_NETWORKS: networks('that webhooks may be sent to').default([]),
  /**
   * Time limit for one attempt to send a webhook, from the resolution of its name to the end of the
   * answer.
   */
  WEBHOOK_TIMEOUT_MS: integer(10_000, 100, 30_000),
  /** Maximum number of webhooks in a workspace, and of inbound hooks. */
  MAX_WEBHOOKS_PER_WORKSPACE: integer(50, 1, 10_000),
  /** Maximum number of schedules in a workspace. */
  MAX_SCHEDULES_PER_WORKSPACE: integer(10_000, 1, 1_000_000),
  /** Retention of the audit log. */
  AUDIT_RETENTION_DAYS: integer(365, 1, 36_500),
  /** Retention of deliveries of webhooks with their attempts, and of results of inbound events. */
  WEBHOOK_RETENTION_DAYS: integer(30, 2, 3_650),
  /**
   * Mail server with its password: smtps://user:password@host:465, or smtp:// with STARTTLS.
   * `?tls=none` disables TLS. Requires MAIL_FROM. Sends notices, and invitations if PUBLIC_URL is set.
   */
  SMTP_URL: mailServer.optional(),
  /** The sender of e-mail: an address, or `Name <address>`. */
  MAIL_FROM: mailSender.optional(),
  /** Schedule of the coordinator: six fields, seconds first. Five fields are accepted, too. */
  COORDINATOR_CRON: z
    .string()
    .refine(
      (text) => validateCronExpression(text).valid,
      'must be a cron expression, such as */30 * * * * * for every half minute',
    )
    .default('*/30 * * * * *'),
  /** Time without a sign of life from the leader after which another server leads. */
  COORDINATOR_LOCK_TTL_SECONDS: seconds(15, 3, 600),
  /** Interval at which the leader searches for inconsistent states and cycles of dependencies. */
  RECONCILE_INTERVAL_SECONDS: seconds(60, 1, 86_400),
  /** Maximum delay of a retry. */
  RETRY_BACKOFF_CAP_SECONDS: seconds(3_600),
  /** Default timeoutSeconds of a task. 0 means no deadline. */
  DEFAULT_TIMEOUT_SECONDS: seconds(0, 0, 2_592_000),
  /** Lease of a claim by an agent without heartbeats. */
  DEFAULT_LEASE_SECONDS: seconds(1_800),
  /** Maximum number of subtasks that the runs of one task can create. 0 means none. */
  MAX_SUBTASKS_PER_TASK: integer(100, 0, 1_000),
  /** Maximum number of ancestors of a subtask. */
  MAX_SUBTASK_DEPTH: integer(5, 0, 100),
  /** Time after which a run past its estimate and without progress is warned. */
  HUNG_AFTER_SECONDS: seconds(1_800),
  /** Time after a warning at which a run without progress is aborted and its task retried. */
  HUNG_ABORT_AFTER_SECONDS: seconds(600),
  /** Time after which the review of a change is overdue, which raises an event. 0 means never. */
  REVIEW_TIMEOUT_SECONDS: seconds(3_600, 0, 2_592_000),
  /** Interval at which hosts look for reviews and merges at forges that no hook has told. */
  FORGE_POLL_SECONDS: seconds(60, 1, 86_400),
  /** Maximum number of renewals of such a lease. */
  MAX_CLAIM_RENEWALS: integer(10, 0, 10_000),
  /** Interval at which heartbeats are written to Postgres. */
  HEARTBEAT_FLUSH_MS: integer(1_000, 50, 10_000),
  /** The heartbeat history stores one heartbeat of an agent in this time. 0 stores none. */
  HEARTBEAT_HISTORY_SECONDS: integer(60, 0, 86_400),
  /** Retention of the heartbeat history. */
  HEARTBEAT_RETENTION_DAYS: integer(7, 1, 3_650),
  /** Retention of usage reports that no current budget counts. The sums of the history stay. */
  USAGE_RETENTION_DAYS: integer(400, 31, 36_500),
  /** Time between SIGTERM and SIGKILL for a cancelled task. */
  CANCEL_GRACE_SECONDS: seconds(10, 1, 600),
});

const environment = variables
  .superRefine(mailNeedsBoth)
  .superRefine(checkSingleSignOn)
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

function checkSingleSignOn(env: z.infer<typeof variables>, context: z.RefinementCtx): void {
  const need = (name: 'OIDC_ISSUER' | 'PUBLIC_URL' | 'OIDC_CLIENT_ID', by: string) => {
    if (env[name] !== undefined) return;
    context.addIssue({ code: 'custom', path: [name], message: `is missing, and ${by}` });
  };
  if (env.OIDC_CLIENT_ID !== undefined) {
    need('OIDC_ISSUER', 'OIDC_CLIENT_ID is set');
    need('PUBLIC_URL', 'OIDC_CLIENT_ID is set: the provider sends users back to it');
  }
  if (!env.PASSWORD_SIGN_IN)
    need('OIDC_CLIENT_ID', 'PASSWORD_SIGN_IN is false: nobody could sign in');
}

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
      /** Whether PgBouncer is in between. The server detects it at the start. */
      pooled: false,
    },
    valkey: { url: env.VALKEY_URL, keyPrefix: env.VALKEY_KEY_PREFIX, views: env.VALKEY_VIEWS },
    http: {
      host: env.HOST,
      port: env.PORT,
      inheritedSockets: env.LISTEN_FDS,
      publicUrl: env.PUBLIC_URL,
      trustedProxies: env.TRUST_PROXY,
      limits: {
        maxConnections: env.HTTP_MAX_CONNECTIONS,
        requestMs: env.HTTP_REQUEST_TIMEOUT_SECONDS * 1_000,
        keepAliveMs: env.HTTP_KEEP_ALIVE_SECONDS * 1_000,
      },
      maxStreams: env.MAX_STREAMS,
      maxStreamsPerCaller: env.MAX_STREAMS_PER_CALLER,
      maxStreamsPerWorkspace: env.MAX_STREAMS_PER_WORKSPACE,
      metricsToken: env.METRICS_TOKEN,
      shutdownDeadlineSeconds: env.SHUTDOWN_DEADLINE_SECONDS,
      shutdownDelaySeconds: env.SHUTDOWN_DELAY_SECONDS,
    },
    roles: env.ROLES,
    instanceId: env.INSTANCE_ID,
    logLevel: env.LOG_LEVEL,
    /** Address of an OpenTelemetry collector. Undefined means that nothing is traced. */
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
      loginAttemptsPerHour: env.LOGIN_ATTEMPTS_PER_HOUR,
      maxWorkspacesPerUser: env.MAX_WORKSPACES_PER_USER,
      maxApiKeysPerUser: env.MAX_API_KEYS_PER_USER,
      requestsPerSecond: {
        token: env.REQUESTS_PER_SECOND_PER_TOKEN,
        workspace: env.REQUESTS_PER_SECOND_PER_WORKSPACE,
        address: env.REQUESTS_PER_SECOND_PER_ADDRESS,
      },
      oidcIssuer: env.OIDC_ISSUER,
      oidcAudience: env.OIDC_AUDIENCE,
      openSignUp: env.OPEN_SIGN_UP,
      oidcSignUp: env.OIDC_SIGN_UP,
      passwordSignIn: env.PASSWORD_SIGN_IN,
      operatorsNeedSecondFactor: env.OPERATORS_NEED_SECOND_FACTOR,
      /** Undefined without OIDC_CLIENT_ID. */
      singleSignOn:
        env.OIDC_ISSUER !== undefined &&
        env.OIDC_CLIENT_ID !== undefined &&
        env.PUBLIC_URL !== undefined
          ? {
              issuer: env.OIDC_ISSUER,
              clientId: env.OIDC_CLIENT_ID,
              clientSecret: env.OIDC_CLIENT_SECRET,
              scopes: env.OIDC_SCOPES,
              name: env.OIDC_NAME,
              groupsClaim: env.OIDC_GROUPS_CLAIM,
              groupRoles: env.OIDC_GROUP_ROLES,
              publicUrl: env.PUBLIC_URL,
            }
          : undefined,
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
      reviewTimeoutSeconds: env.REVIEW_TIMEOUT_SECONDS || null,
      forgePollSeconds: env.FORGE_POLL_SECONDS,
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
      /**
       * Whether the gateway only speaks the spawn request and sends no heartbeats, reports and
       * proofs.
       */
      isBasic: env.GATEWAY_PROTOCOL === 'basic',
      capacity: env.GATEWAY_CAPACITY,
      timeoutMs: env.GATEWAY_TIMEOUT_MS,
      staleSeconds: env.GATEWAY_STALE_SECONDS,
      spawnAttempts: env.SPAWN_ATTEMPTS,
      spawnDeadlineSeconds: env.SPAWN_DEADLINE_SECONDS,
    },
    models: {
      /** The installation's own keys. A provider without one serves only workspaces with a key. */
      providers: {
        anthropic: { key: env.ANTHROPIC_API_KEY, baseUrl: env.ANTHROPIC_BASE_URL },
        openai: { key: env.OPENAI_API_KEY, baseUrl: env.OPENAI_BASE_URL },
        gemini: { key: env.GEMINI_API_KEY, baseUrl: env.GOOGLE_GEMINI_BASE_URL },
      },
    },
    admission: {
      maxQueueDepth: env.MAX_QUEUE_DEPTH_PER_WORKSPACE,
      spawnsPerMinute: env.SPAWNS_PER_MINUTE,
    },
    logs: {
      mbPerRun: env.LOG_MB_PER_RUN,
      mbPerWorkspaceAndDay: env.LOG_MB_PER_WORKSPACE_AND_DAY,
    },
    artifacts: {
      /** Undefined means that runs keep no files. */
      folder: env.ARTIFACTS_DIR,
      maxBytes: env.ARTIFACT_MAX_MB * MIB,
      quotaBytes: env.ARTIFACT_QUOTA_MB * MIB,
      retentionDays: env.ARTIFACT_RETENTION_DAYS,
    },
    repositories: { folders: env.DROVER_REPOSITORY_PATHS },
    journal: { retentionDays: env.JOURNAL_RETENTION_DAYS },
    audit: { retentionDays: env.AUDIT_RETENTION_DAYS },
    schedules: { maxPerWorkspace: env.MAX_SCHEDULES_PER_WORKSPACE },
    webhooks: {
      allowedNetworks: env.WEBHOOK_ALLOWED_NETWORKS,
      timeoutMs: env.WEBHOOK_TIMEOUT_MS,
      maxPerWorkspace: env.MAX_WEBHOOKS_PER_WORKSPACE,
      retentionDays: env.WEBHOOK_RETENTION_DAYS,
    },
    /** Undefined means that the server sends no e-mail. */
    mail: env.SMTP_URL && env.MAIL_FROM ? { server: env.SMTP_URL, from: env.MAIL_FROM } : undefined,
    usage: { retentionDays: env.USAGE_RETENTION_DAYS },
    coordinator: {
      cron: env.COORDINATOR_CRON,
      lockTtlSeconds: env.COORDINATOR_LOCK_TTL_SECONDS,
      reconcileIntervalSeconds: env.RECONCILE_INTERVAL_SECONDS,
    },
  };
}
