import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  bearer,
  createClient,
  type Fetch,
  itemsOf,
  pagesOf,
  resumeSignIn,
  signIn,
  type SignedIn,
  type TokenPair,
} from '#lib/api-client';
import { TokenService } from '#lib/identity';
import { aSessionOf } from '../support/factories.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../support/app.js';

/**
 * Tests sign-ins that refresh themselves, and lists that are read to their end, against the whole
 * server.
 */

let server: TestApp;
let workspace: TestWorkspace;
/** Paths of the requests that the client has sent. */
let sent: string[];

beforeAll(async () => {
  server = await startTestApp({ OPEN_SIGN_UP: 'true' });
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());
beforeEach(() => {
  sent = [];
});

const counted: Fetch = (url, init) => {
  sent.push(new URL(url).pathname);
  return fetch(url, init);
};

const refreshes = () => sent.filter((path) => path.endsWith('/auth/refresh')).length;

/** A new user who has signed in, and the stored tokens. */
async function aSignIn(): Promise<{ user: SignedIn; stored: (TokenPair | undefined)[] }> {
  const email = `${crypto.randomUUID()}@example.com`;
  const password = 'a long password of the tests';
  const body = { email, password, name: 'Ada' };
  await createClient({ baseUrl: server.url }).post('/api/v1/auth/sign-up', { body });
  const stored: (TokenPair | undefined)[] = [];
  const user = await signIn(optionsOf(stored), { email, password });
  return { user, stored };
}

function optionsOf(stored: (TokenPair | undefined)[]) {
  return {
    baseUrl: server.url,
    fetch: counted,
    onPair: (pair: TokenPair | undefined) => void stored.push(pair),
  };
}

const clientOf = (credentials: SignedIn) =>
  createClient({ baseUrl: server.url, credentials, fetch: counted });

it('concurrent refused requests cause one refresh, and the new pair is stored', async () => {
  const { user, stored } = await aSignIn();
  const pair = user.pair() as TokenPair;
  const damaged = resumeSignIn(optionsOf(stored), { ...pair, accessToken: 'no token' });
  const api = clientOf(damaged);
  const answers = await Promise.all([1, 2, 3, 4].map(() => api.get('/api/v1/auth/me')));
  expect(answers).toHaveLength(4);
  expect(refreshes()).toBe(1);
  expect(stored).toEqual([pair, damaged.pair()]);
  expect(damaged.pair()?.refreshToken).not.toBe(pair.refreshToken);
});

it('parallel requests cause one refresh before the access token expires', async () => {
  const { user, stored } = await aSignIn();
  const ending = { ...(user.pair() as TokenPair), endsAt: Date.now() + 1_000 };
  const api = clientOf(resumeSignIn(optionsOf(stored), ending));
  await Promise.all([1, 2, 3].map(() => api.get('/api/v1/auth/me')));
  expect(refreshes()).toBe(1);
  expect(sent.filter((path) => path.endsWith('/auth/me'))).toHaveLength(3);
});

it('a client reports and stores the end of the sign-in, and sends no more requests', async () => {
  const { user, stored } = await aSignIn();
  const spent = { ...(user.pair() as TokenPair), refreshToken: 'drr_spent', endsAt: 0 };
  const api = clientOf(resumeSignIn(optionsOf(stored), spent));
  for (let tries = 0; tries < 2; tries++) {
    await expect(api.get('/api/v1/auth/me')).rejects.toMatchObject({
      code: 'invalid_refresh_token',
    });
  }
  expect(stored.at(-1)).toBeUndefined();
  expect(sent.filter((path) => !path.endsWith('/login'))).toEqual(['/api/v1/auth/refresh']);
});

it('a client continues with a valid token while no refresh is answered', async () => {
  const { user } = await aSignIn();
  const ending = { ...(user.pair() as TokenPair), endsAt: Date.now() + 20_000 };
  const noRefresh: Fetch = async () => {
    throw new TypeError('no network');
  };
  const lame = resumeSignIn({ baseUrl: server.url, fetch: noRefresh, retries: 0 }, ending);
  await expect(clientOf(lame).get('/api/v1/auth/me')).resolves.toHaveProperty('user');
});

it('a list is read page by page to its end', async () => {
  for (const title of ['one', 'two', 'three'])
    await workspace.api.post('/agent-tasks', { title, taskType: 'development' });
  const { userId, id: workspaceId } = workspace;
  const sessionId = await aSessionOf(server.db.owner, userId);
  const tokens = server.app.get(TokenService, { strict: false });
  const { token } = tokens.issueUserToken({ userId, sessionId, workspaceId });
  const api = createClient({ baseUrl: server.url, credentials: bearer(token), workspaceId });
  const read = (from: { cursor?: string }) =>
    api.get('/api/v1/agent-tasks', { params: { query: { ...from, limit: 2 } } });
  const titles: string[] = [];
  for await (const { title } of itemsOf(read)) titles.push(title);
  expect(titles.toSorted()).toEqual(['one', 'three', 'two']);
  const sizes: number[] = [];
  for await (const { items } of pagesOf(read)) sizes.push(items.length);
  expect(sizes).toEqual([2, 1]);
});
