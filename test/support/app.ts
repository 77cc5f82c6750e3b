import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadConfig } from '#lib/config';
import { TokenService } from '#lib/identity';
import { Logger } from '#lib/observability';
import { createApp } from '../../apps/server/create-app.js';
import { type ApiAnswer, type ApiClient } from './api-client.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { newWorkspaceAt, type TestAgent, type TestServer, type TestWorkspace } from './server.js';
import { serverSettings } from './settings.js';
import { testValkey } from './valkey.js';

export type { ApiAnswer, ApiClient, TestAgent, TestWorkspace };

/** This setting alone lets gateways report, and starts no sessions. */
export const GATEWAY_SECRET = 'a secret that server and gateway of the tests share';

/** The whole server in this process, with its own database and key prefix. */
export interface TestApp extends TestServer {
  app: NestFastifyApplication;
}

export async function startTestApp(
  env: Record<string, string> = {},
  given?: TestDatabase,
): Promise<TestApp> {
  const db = given ?? (await createTestDatabase());
  const read = loadConfig({
    ...serverSettings(db, testValkey()),
    GATEWAY_URL: 'http://127.0.0.1:1',
    GATEWAY_SECRET,
    PORT: '0',
    LOG_LEVEL: 'silent',
    ...env,
  });
  // Gateways can report to the server. It starts no sessions unless a test has a gateway.
  const config = { ...read, gateway: { ...read.gateway, url: env['GATEWAY_URL'] } };
  const app = await createApp(config, Logger.create({ level: config.logLevel }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  const tokens = app.get(TokenService, { strict: false });
  const newWorkspace = (role?: string) => newWorkspaceAt({ url, db, tokens }, role);
  const stop = async () => {
    await app.close();
    await db.drop();
  };
  return { app, url, db, tokens, newWorkspace, stop };
}
