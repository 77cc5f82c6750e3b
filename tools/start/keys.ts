import { Api, ApiRefusal } from '../shared/api.js';
import { Sentence } from '../shared/sentence.js';
import type { Home } from './home.js';

const YEAR_SECONDS = 365 * 86_400;

const ALL_SCOPES = [
  'tasks:write',
  'agents:write',
  'projects:write',
  'questions:answer',
  'workspace:admin',
  'coordinator:admin',
];

/**
 * Makes the two API keys that are not there, or are not good any more: one for the workers, and one for
 * everybody who may read the folder.
 */
export async function ensureKeys(address: string, home: Home): Promise<void> {
  const anybody = new Api(address);
  const [hasWorkerKey, hasApiKey] = await Promise.all([
    isGood(anybody, home.workerKey),
    isGood(anybody, home.apiKey),
  ]);
  if (hasWorkerKey && hasApiKey) return;
  const { admin, workspaceId } = await signIn(anybody, home);
  const make = async (name: string, scopes: string[], role: string): Promise<string> => {
    const body = { name, scopes, role, expiresInSeconds: 10 * YEAR_SECONDS };
    const path = `/workspaces/${workspaceId}/api-keys`;
    return (await admin.post<{ key: string }>(path, body)).key;
  };
  if (!hasWorkerKey)
    home.workerKey = await make('workers of npm start', ['agents:write'], 'MEMBER');
  if (!hasApiKey) home.apiKey = await make('api-key of npm start', ALL_SCOPES, 'ADMIN');
}

async function isGood(anybody: Api, key: string | undefined): Promise<boolean> {
  if (key === undefined) return false;
  try {
    await anybody.as(key).get('/agents?limit=1');
    return true;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 401) return false;
    throw error;
  }
}

async function signIn(anybody: Api, home: Home): Promise<{ admin: Api; workspaceId: string }> {
  const { administrator } = home;
  if (administrator === undefined) throw new Sentence(noPassword(home, 'is not there'));
  const credentials = { ...administrator };
  try {
    const first = await anybody.post<{ accessToken: string }>('/auth/login', credentials);
    const path = '/workspaces?limit=1';
    const { items } = await anybody.as(first.accessToken).get<{ items: { id: string }[] }>(path);
    const workspaceId = items[0]?.id ?? '';
    const second = await anybody.post<{ accessToken: string }>('/auth/login', {
      ...credentials,
      workspaceId,
    });
    return { admin: anybody.as(second.accessToken), workspaceId };
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.code !== 'invalid_credentials') throw error;
    throw new Sentence(noPassword(home, 'holds another password'));
  }
}

function noPassword({ administratorFile }: Home, why: string): string {
  return `Keys must be made for the workers, but ${administratorFile} ${why}: write {"email", "password"} of an administrator there.`;
}
