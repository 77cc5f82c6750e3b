import { newId } from '#lib/kernel';
import { Api } from '../../../../tools/shared/api.js';
import { built } from '../../../../tools/shared/project.js';
import { type Budgets, allotBudgets } from './budgets.js';
import { HEARTBEAT_SECONDS, SESSIONS, STALE_SECONDS } from '../settings.js';

interface WithId {
  id: string;
}

export interface People {
  workspaceId: string;
  /** Of clients and workers alike. */
  key: string;
  /** Who takes the tasks that need the capability `session`. */
  pushAgentId: string;
  budgets: Budgets;
}

/** A workspace, a key for everybody in it, and a push agent. */
export async function invite(
  address: string,
  administrator: { email: string; password: string },
): Promise<People> {
  const anybody = new Api(address);
  const admin = await signIn(anybody, administrator);
  const { id: workspaceId } = await admin.post<WithId>('/workspaces', {
    name: 'Chaos',
    slug: 'chaos',
  });
  const inWorkspace = await signIn(anybody, { ...administrator, workspaceId });
  const { key } = await inWorkspace.post<{ key: string }>(`/workspaces/${workspaceId}/api-keys`, {
    name: 'everybody in the chaos run',
    role: 'ADMIN',
    scopes: ['tasks:write', 'agents:write', 'workspace:admin'],
  });
  const pushAgentId = newId();
  await register(address, key, pushAgentId);
  const budgets = await allotBudgets(inWorkspace);
  return { workspaceId, key, pushAgentId, budgets };
}

async function register(address: string, key: string, id: string): Promise<void> {
  const answer = await fetch(`${address}/api/v1/agents/${id}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ name: 'pushed', mode: 'push', capabilities: ['session'], maxConcurrentTasks: SESSIONS },
      ...{ heartbeatIntervalSeconds: HEARTBEAT_SECONDS, staleThresholdSeconds: STALE_SECONDS },
      command: [process.execPath, built('test/faults/chaos/session.js')],
    }),
  });
  if (!answer.ok) throw new Error(`registering the push agent: ${await answer.text()}`);
}

async function signIn(
  anybody: Api,
  credentials: { email: string; password: string; workspaceId?: string },
): Promise<Api> {
  const { accessToken } = await anybody.post<{ accessToken: string }>('/auth/login', credentials);
  return anybody.as(accessToken);
}
