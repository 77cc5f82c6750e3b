import { bearer, createClient } from '#lib/api-client';
import { newId } from '#lib/kernel';
import { built } from '#lib/kernel';
import { signedIn } from '../../../../tools/shared/sign-in.js';
import { type Budgets, allotBudgets } from './budgets.js';
import { HEARTBEAT_SECONDS, SESSIONS, STALE_SECONDS } from '../settings.js';

export interface People {
  workspaceId: string;
  /** The key of clients and workers. */
  key: string;
  /** The agent that takes the tasks with the capability `session`. */
  pushAgentId: string;
  budgets: Budgets;
}

/** Creates a workspace, a key for everybody in it, and a push agent. */
export async function invite(
  address: string,
  administrator: { email: string; password: string },
): Promise<People> {
  const admin = await signedIn(address, administrator);
  const { id: workspaceId } = await admin.post('/api/v1/workspaces', {
    body: { name: 'Chaos', slug: 'chaos' },
  });
  const inWorkspace = await signedIn(address, { ...administrator, workspaceId });
  const { key } = await inWorkspace.post('/api/v1/workspaces/{workspaceId}/api-keys', {
    params: { path: { workspaceId } },
    body: {
      name: 'everybody in the chaos run',
      role: 'ADMIN',
      scopes: ['tasks:write', 'agents:write', 'workspace:admin'],
    },
  });
  const pushAgentId = newId();
  await register(address, key, pushAgentId);
  const budgets = await allotBudgets(inWorkspace);
  return { workspaceId, key, pushAgentId, budgets };
}

async function register(address: string, key: string, id: string): Promise<void> {
  const drover = createClient({ baseUrl: address, credentials: bearer(key) });
  await drover.put('/api/v1/agents/{id}', {
    params: { path: { id } },
    body: {
      name: 'pushed',
      mode: 'push',
      capabilities: ['session'],
      maxConcurrentTasks: SESSIONS,
      heartbeatIntervalSeconds: HEARTBEAT_SECONDS,
      staleThresholdSeconds: STALE_SECONDS,
      command: [process.execPath, built('test/faults/chaos/session.js')],
    },
  });
}
