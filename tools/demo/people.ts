import { randomBytes } from 'node:crypto';
import type { DroverClient } from '#lib/api-client';
import { signedIn } from '../shared/sign-in.js';
import type { Stage } from './stage.js';

/** The participants, all created through the API by the first administrator. */
export interface People {
  /** A member of the workspace, who submits the job and watches it. */
  member: DroverClient;
  /** The first administrator, in the workspace. */
  administrator: DroverClient;
  workspaceId: string;
  projectId: string;
  /** The key with which the workers register. */
  workerKey: string;
}

export async function invitePeople({ address, administrator }: Stage): Promise<People> {
  const admin = await signedIn(address, administrator);
  const workspace = await admin.post('/api/v1/workspaces', {
    body: { name: 'Demo', slug: 'demo' },
  });
  const inWorkspace = await signedIn(address, { ...administrator, workspaceId: workspace.id });
  const grace = { email: 'grace@demo.local', password: randomBytes(18).toString('base64url') };
  const { id: userId } = await admin.post('/api/v1/users', {
    body: { ...grace, name: 'Grace' },
  });
  const vera = await admin.post('/api/v1/users', {
    body: { email: 'vera@demo.local', name: 'Vera' },
  });
  const params = { path: { workspaceId: workspace.id } };
  const addMember = (member: string, role: 'MEMBER' | 'VIEWER') =>
    inWorkspace.post('/api/v1/workspaces/{workspaceId}/members', {
      params,
      body: { userId: member, role },
    });
  await addMember(userId, 'MEMBER');
  await addMember(vera.id, 'VIEWER');
  const key = await inWorkspace.post('/api/v1/workspaces/{workspaceId}/api-keys', {
    params,
    body: { name: 'workers of the demo', scopes: ['agents:write'], expiresInSeconds: 3_600 },
  });
  const member = await signedIn(address, { ...grace, workspaceId: workspace.id });
  const project = await inWorkspace.post('/api/v1/projects', {
    body: { name: 'Look at this folder' },
  });
  return {
    member,
    administrator: inWorkspace,
    workspaceId: workspace.id,
    projectId: project.id,
    workerKey: key.key,
  };
}
