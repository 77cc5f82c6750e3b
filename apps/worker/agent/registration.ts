import { hostname } from 'node:os';
import { DroverApi } from '../api/drover-api.js';
import { hasCode, toApiError } from '../api/errors.js';
import type { HttpClient } from '../api/http-client.js';
import { RETRY_BACKOFF, retrying } from '../api/retry.js';
import { keyHeaders } from '../api/auth-headers.js';
import { FetchedToken, GivenToken } from '../api/token-source.js';
import type { Registration } from '../api/types.js';
import type { Credentials, WorkerConfig } from '../config.js';
import type { Log } from '../log.js';
import { agentIdOf, newAgentId } from '../state/agent-id.js';
import { killLeftovers } from '../state/leftovers.js';
import { StateFile } from '../state/state-file.js';
import { explainRefusal } from './refusal.js';
import { workerVersion } from './version.js';

const REGISTER_TIMEOUT_MS = 10_000;

export interface Membership {
  api: DroverApi;
  state: StateFile;
}

export interface Surroundings {
  http: HttpClient;
  log: Log;
  /** Ends the waiting for the server. */
  signal: AbortSignal;
}

/**
 * Makes this worker known to the server, waiting for the server if it must, and takes over the state
 * that an earlier life left.
 *
 * @throws Error in a sentence when the server does not want it, which waiting does not change
 */
export async function register(
  config: WorkerConfig,
  { http, log, signal }: Surroundings,
): Promise<Membership> {
  const { credentials } = config;
  const first = config.agentId ?? agentIdOf(config.dataDir, config.name);
  const state = StateFile.open(config.dataDir, first);
  // Before the server is asked for anything: it may be away for long.
  await killLeftovers(state, log);
  const join = joiner(config, { http, log, signal });
  try {
    return { api: await join(first, state), state };
  } catch (error) {
    // An agent that drained is terminated for good: the next life of its worker is a new agent.
    const mayRenew = credentials.kind === 'key' && config.agentId === undefined;
    if (!hasCode(error, 'agent_terminated') || !mayRenew) throw explainRefusal(error, config);
  }
  const second = newAgentId(config.dataDir, config.name);
  const successor = StateFile.open(config.dataDir, second, state.restartCount);
  const api = await join(second, successor).catch((error: unknown) => {
    throw explainRefusal(error, config);
  });
  return { api, state: successor };
}

function joiner(config: WorkerConfig, { http, log, signal }: Surroundings) {
  const { credentials } = config;
  return (agentId: string, state: StateFile): Promise<DroverApi> =>
    retrying(
      'Registering',
      async () => {
        const body = registration(config, state);
        return credentials.kind === 'key'
          ? joinWithKey(http, credentials, agentId, body)
          : joinWithToken(http, credentials, agentId, body);
      },
      { policy: RETRY_BACKOFF, log, signal, giveUpUnauthenticated: true },
    );
}

async function joinWithKey(
  http: HttpClient,
  credentials: Extract<Credentials, { kind: 'key' }>,
  agentId: string,
  body: Registration,
): Promise<DroverApi> {
  const headers = keyHeaders(credentials);
  const answer = await http.send({
    method: 'PUT',
    path: `/agents/${agentId}`,
    headers,
    body,
    timeoutMs: REGISTER_TIMEOUT_MS,
  });
  if (answer.status !== 200 && answer.status !== 201) {
    throw toApiError(answer.status, answer.body, answer.retryAfter);
  }
  const tokens = new FetchedToken(http, headers, agentId);
  await tokens.current();
  return new DroverApi(http, tokens, agentId);
}

async function joinWithToken(
  http: HttpClient,
  credentials: Extract<Credentials, { kind: 'agent' }>,
  agentId: string,
  body: Registration,
): Promise<DroverApi> {
  const api = new DroverApi(http, new GivenToken(credentials), agentId);
  await api.register(body);
  return api;
}

function registration(config: WorkerConfig, state: StateFile): Registration {
  return {
    name: config.name,
    mode: 'pull',
    capabilities: config.capabilities,
    maxConcurrentTasks: config.concurrency,
    heartbeatIntervalSeconds: config.heartbeatSeconds,
    staleThresholdSeconds: config.staleSeconds,
    hostName: hostname(),
    pid: process.pid,
    agentVersion: workerVersion(),
    restartCount: state.restartCount,
  };
}
