import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadConfig } from '#lib/config';
import { TokenService } from '#lib/identity';
import { Logger } from '#lib/observability';
import { createApp } from '../../apps/server/create-app.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { aMember, anAgent, type AgentValues, aSessionOf, aWorkspace } from './factories.js';
import { type ApiAnswer, apiClient, type ApiClient } from './api-client.js';
import { testValkey } from './valkey.js';

export type { ApiAnswer, ApiClient };

/** With it alone gateways may report, and nothing is spawned. */
export const GATEWAY_SECRET = 'a secret that server and gateway of the tests share';

/** The whole server in this process, on a database and a key prefix of its own. */
export interface TestApp {
  app: NestFastifyApplication;
  url: string;
  db: TestDatabase;
  /** A workspace with an owner who has signed in. */
  newWorkspace(role?: string): Promise<TestWorkspace>;
  stop(): Promise<void>;
}

export interface TestWorkspace {
  id: string;
  userId: string;
  /** Requests as its owner. */
  api: ApiClient;
  newAgent(values?: AgentValues): Promise<TestAgent>;
}

export interface TestAgent {
  id: string;
  token: string;
  api: ApiClient;
}

export async function startTestApp(
  env: Record<string, string> = {},
  given?: TestDatabase,
): Promise<TestApp> {
  const db = given ?? (await createTestDatabase());
  const valkey = testValkey();
  const read = loadConfig({
    DATABASE_URL: db.appUrl,
    DATABASE_SERVICE_URL: db.serviceUrl,
    VALKEY_URL: valkey.url,
    VALKEY_KEY_PREFIX: valkey.keyPrefix,
    JWT_SECRET: 'a secret of the tests that is long enough',
    ENCRYPTION_KEYS: `tests:${'A'.repeat(43)}=`,
    GATEWAY_URL: 'http://127.0.0.1:1',
    GATEWAY_SECRET,
    PORT: '0',
    LOG_LEVEL: 'silent',
    ...env,
  });
  // Gateways may speak to it, and it spawns nothing, unless a test has one.
  const config = { ...read, gateway: { ...read.gateway, url: env['GATEWAY_URL'] } };
  const app = await createApp(config, Logger.create({ level: config.logLevel }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  const tokens = app.get(TokenService, { strict: false });

  const newWorkspace = async (role = 'OWNER'): Promise<TestWorkspace> => {
    const id = await aWorkspace(db.owner);
    const userId = await aMember(db.owner, id, role);
    const sessionId = await aSessionOf(db.owner, userId);
    const { token } = tokens.issueUserToken({ userId, sessionId, workspaceId: null });
    const newAgent = async (values: AgentValues = {}): Promise<TestAgent> => {
      const agentId = await anAgent(db.owner, id, values);
      const issued = tokens.issueAgentToken({ workspaceId: id, agentId, tokenVersion: 1 });
      return {
        id: agentId,
        token: issued.token,
        api: apiClient(url, { authorization: `Bearer ${issued.token}` }),
      };
    };
    const api = apiClient(url, { authorization: `Bearer ${token}`, 'x-workspace-id': id });
    return { id, userId, api, newAgent };
  };

  const stop = async () => {
    await app.close();
    await db.drop();
  };
  return { app, url, db, newWorkspace, stop };
}
