import { randomBytes } from 'node:crypto';
import { Api } from '../shared/api.js';
import type { Stage } from './stage.js';

interface WithId {
  id: string;
}

/** The participants, all made through the API by the first administrator. */
export interface People {
  /** A member of the workspace, who submits the job and watches it. */
  member: Api;
  /** The first administrator, in the workspace. */
  administrator: Api;
  workspaceId: string;
  projectId: string;
  /** With which the workers register. */
  workerKey: string;
}

export async function invitePeople({ address, administrator }: Stage): Promise<People> {
  const anybody = new Api(address);
  const admin = await signIn(anybody, administrator);
  const workspace = await admin.post<WithId>('/workspaces', { name: 'Demo', slug: 'demo' });
  const inWorkspace = await signIn(anybody, { ...administrator, workspaceId: workspace.id });
  const grace = { email: 'grace@demo.local', password: randomBytes(18).toString('base64url') };
  const { id: userId } = await admin.post<WithId>('/users', { ...grace, name: 'Grace' });
  const vera = await admin.post<WithId>('/users', { email: 'vera@demo.local', name: 'Vera' });
  const members = `/workspaces/${workspace.id}/members`;
  await inWorkspace.post(members, { userId, role: 'MEMBER' });
  await inWorkspace.post(members, { userId: vera.id, role: 'VIEWER' });
  const key = await inWorkspace.post<{ key: string }>(`/workspaces/${workspace.id}/api-keys`, {
    name: 'workers of the demo',
    scopes: ['agents:write'],
    expiresInSeconds: 3_600,
  });
  const member = await signIn(anybody, { ...grace, workspaceId: workspace.id });
  const project = await inWorkspace.post<WithId>('/projects', { name: 'Look at this folder' });
  return {
    ...{ member, administrator: inWorkspace, workspaceId: workspace.id },
    ...{ projectId: project.id, workerKey: key.key },
  };
}

async function signIn(
  anybody: Api,
  credentials: { email: string; password: string; workspaceId?: string },
): Promise<Api> {
  const { accessToken } = await anybody.post<{ accessToken: string }>('/auth/login', credentials);
  return anybody.as(accessToken);
}
