import { hostname } from 'node:os';
import { askedWaitMs, hasCode, type HostLog, messageOf, pause, retrying } from '#lib/agent-host';
import { bearer, type DroverClient } from '#lib/api-client';
import { projectVersion } from '#lib/kernel';
import { FetchedToken, GivenToken } from '../api/agent-token.js';
import { DroverApi } from '../api/drover-api.js';
import type { Registration } from '../api/types.js';
import type { AgentToken, ApiKey, WorkerConfig } from '../config.js';
import { agentIdOf, newAgentId } from '../state/agent-id.js';
import { StateFile } from '../state/state-file.js';
import { explainRefusal } from './refusal.js';

export interface RegisteredAgent {
  api: DroverApi;
  state: StateFile;
  /** Registers again, with the offer of now. It fails with the errors of DroverClient. */
  renew: () => Promise<unknown>;
}

/** The tasks that an agent takes, as the server knows them. */
export type Offer = Pick<Registration, 'capabilities' | 'dedicatedTo' | 'taskTypes'>;

export interface RegistrationContext {
  /** A client without credentials. */
  server: DroverClient;
  /** Ends the sessions that an earlier process left running. */
  endLeftovers?: (state: StateFile) => Promise<void>;
  /** The tasks that the agent takes now. */
  offer: () => Offer;
  log: HostLog;
  /** Ends the wait for the server. */
  signal: AbortSignal;
}

/**
 * Registers this worker at the server, waiting for the server if necessary, and takes over the
 * state of an earlier process of the worker.
 *
 * @throws Error in a sentence if the server refuses the worker and waiting does not change it
 */
export async function register(
  config: WorkerConfig,
  { server, endLeftovers, offer, log, signal }: RegistrationContext,
): Promise<RegisteredAgent> {
  const { credentials } = config;
  const first = config.agentId ?? agentIdOf(config.dataDir, config.name);
  const state = StateFile.open(config.dataDir, first, log);
  // Comes before the first call, because the server can be away for long.
  await endLeftovers?.(state);
  const join = joiner(config, { server, offer, log, signal });
  const renewing = (api: DroverApi, own: StateFile): RegisteredAgent => ({
    api,
    state: own,
    renew: () => api.register(registration(config, own, offer())),
  });
  try {
    return renewing(await join(first, state), state);
  } catch (error) {
    // A drained agent stays terminated. Its worker becomes a new agent at the next start.
    const mayRenew = credentials.kind === 'key' && config.agentId === undefined;
    if (!hasCode(error, 'agent_terminated') || !mayRenew) throw explainRefusal(error, config);
  }
  const second = newAgentId(config.dataDir, config.name);
  const successor = StateFile.open(config.dataDir, second, log, state.restartCount);
  const api = await join(second, successor).catch((error: unknown) => {
    throw explainRefusal(error, config);
  });
  return renewing(api, successor);
}

function joiner(
  config: WorkerConfig,
  { server, offer, log, signal }: Omit<RegistrationContext, 'endLeftovers'>,
) {
  const { credentials } = config;
  const join = (agentId: string, state: StateFile): Promise<DroverApi> =>
    retrying(
      'registration',
      async () => {
        const body = registration(config, state, offer());
        return credentials.kind === 'key'
          ? joinWithKey(server, credentials, agentId, body)
          : joinWithToken(server, credentials, agentId, body);
      },
      { log, signal, giveUpUnauthenticated: true },
    );
  return async (agentId: string, state: StateFile): Promise<DroverApi> => {
    const api = await join(agentId, state).catch(async (error: unknown) => {
      if (!hasCode(error, 'agent_in_use')) throw error;
      await waitForHolder(error, { log, signal });
      return join(agentId, state);
    });
    state.noteRegistered();
    return api;
  };
}

/** Waits until a dead process counts as stale. A process that still sends heartbeats lives. */
async function waitForHolder(
  refusal: unknown,
  { log, signal }: Pick<RegistrationContext, 'log' | 'signal'>,
): Promise<void> {
  const waitMs = askedWaitMs(refusal) ?? 0;
  log.warn('Agent in use by another process; waiting until that one is gone', {
    reason: messageOf(refusal),
    waitMs,
  });
  await pause(waitMs, signal);
}

async function joinWithKey(
  server: DroverClient,
  { key, workspaceId }: ApiKey,
  agentId: string,
  body: Registration,
): Promise<DroverApi> {
  const holder = server.with({ credentials: bearer(key), workspaceId });
  const agent = await new DroverApi(holder, agentId).register(body);
  const token = new FetchedToken(holder, agentId);
  await token.headers();
  return new DroverApi(server.with({ credentials: token }), agentId, agent.workspaceId);
}

async function joinWithToken(
  server: DroverClient,
  credentials: AgentToken,
  agentId: string,
  body: Registration,
): Promise<DroverApi> {
  const holder = server.with({ credentials: new GivenToken(credentials) });
  const agent = await new DroverApi(holder, agentId).register(body);
  return new DroverApi(holder, agentId, agent.workspaceId);
}

function registration(config: WorkerConfig, state: StateFile, offer: Offer): Registration {
  return {
    name: config.name,
    mode: 'pull',
    ...offer,
    maxConcurrentTasks: config.concurrency,
    heartbeatIntervalSeconds: config.heartbeatSeconds,
    staleThresholdSeconds: config.staleSeconds,
    hostName: hostname(),
    pid: process.pid,
    agentVersion: projectVersion(),
    restartCount: state.restartCount,
    bootId: state.bootId,
    previousBootId: state.previousBootId,
  };
}
