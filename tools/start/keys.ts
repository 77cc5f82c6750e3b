import {
  bearer,
  type components,
  createClient,
  type DroverClient,
  DroverProblem,
} from '#lib/api-client';
import { Sentence } from '../shared/sentence.js';
import { signedIn } from '../shared/sign-in.js';
import type { Home } from './home.js';

type NewKey = components['schemas']['CreateApiKey'];

const YEAR_SECONDS = 365 * 86_400;

const ALL_SCOPES: NewKey['scopes'] = [
  'tasks:write',
  'agents:write',
  'projects:write',
  'questions:answer',
  'changes:review',
  'workspace:admin',
  'coordinator:admin',
];

/**
 * Creates the API keys that are missing or invalid: one for the workers, and one for everybody who
 * can read the folder.
 */
export async function ensureKeys(address: string, home: Home): Promise<void> {
  const anybody = createClient({ baseUrl: address });
  const [hasWorkerKey, hasApiKey] = await Promise.all([
    isGood(anybody, home.workerKey),
    isGood(anybody, home.apiKey),
  ]);
  if (hasWorkerKey && hasApiKey) return;
  const { admin, workspaceId } = await signIn(address, home);
  const make = async (key: Omit<NewKey, 'expiresInSeconds'>): Promise<string> => {
    const body = { ...key, expiresInSeconds: 10 * YEAR_SECONDS };
    const params = { path: { workspaceId } };
    return (await admin.post('/api/v1/workspaces/{workspaceId}/api-keys', { params, body })).key;
  };
  if (!hasWorkerKey)
    home.workerKey = await make({
      name: 'workers of npm start',
      scopes: ['agents:write'],
      role: 'MEMBER',
    });
  if (!hasApiKey)
    home.apiKey = await make({ name: 'api-key of npm start', scopes: ALL_SCOPES, role: 'ADMIN' });
}

async function isGood(anybody: DroverClient, key: string | undefined): Promise<boolean> {
  if (key === undefined) return false;
  try {
    const drover = anybody.with({ credentials: bearer(key) });
    await drover.get('/api/v1/agents', { params: { query: { limit: 1 } } });
    return true;
  } catch (error) {
    if (error instanceof DroverProblem && error.status === 401) return false;
    throw error;
  }
}

async function signIn(
  address: string,
  home: Home,
): Promise<{ admin: DroverClient; workspaceId: string }> {
  const { administrator } = home;
  if (administrator === undefined) throw new Sentence(noPassword(home, 'is not there'));
  try {
    const first = await signedIn(address, administrator);
    const { items } = await first.get('/api/v1/workspaces', { params: { query: { limit: 1 } } });
    const workspaceId = items[0]?.id ?? '';
    return { admin: await signedIn(address, { ...administrator, workspaceId }), workspaceId };
  } catch (error) {
    if (!(error instanceof DroverProblem) || error.code !== 'invalid_credentials') throw error;
    throw new Sentence(noPassword(home, 'holds another password'));
  }
}

function noPassword({ administratorFile }: Home, why: string): string {
  return `Keys must be made for the workers, but ${administratorFile} ${why}: write {"email", "password"} of an administrator there.`;
}
