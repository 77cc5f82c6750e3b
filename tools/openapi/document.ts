import { loadConfig } from '#lib/config';
import { Logger } from '#lib/observability';
import { createApp } from '../../apps/server/create-app.js';

/** Nobody is asked: the application is made, and does not listen. */
const NOWHERE = {
  DATABASE_URL: 'postgres://app:app@127.0.0.1:1/drover',
  DATABASE_SERVICE_URL: 'postgres://service:service@127.0.0.1:1/drover',
  VALKEY_URL: 'redis://127.0.0.1:1',
  JWT_SECRET: 'x'.repeat(32),
  ENCRYPTION_KEYS: `1:${Buffer.alloc(32).toString('base64')}`,
};

/** The document that a server shows at /docs/openapi.json, without a server. */
export async function openApiDocument(): Promise<string> {
  const app = await createApp(loadConfig(NOWHERE), Logger.create({ level: 'silent' }));
  await app.init();
  const { body } = await app.inject({ url: '/docs/openapi.json' });
  return body;
}
