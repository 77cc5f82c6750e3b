import { join } from 'node:path';
import { testServers } from './servers.js';

/** The settings that every server under test needs. */
export function serverSettings(
  db: { appUrl: string; serviceUrl: string },
  valkey: { url: string; keyPrefix: string },
): Record<string, string> {
  return {
    DATABASE_URL: db.appUrl,
    DATABASE_SERVICE_URL: db.serviceUrl,
    VALKEY_URL: valkey.url,
    VALKEY_KEY_PREFIX: valkey.keyPrefix,
    ARTIFACTS_DIR: join(testServers().artifactsFolder, valkey.keyPrefix.replace(/\W/g, '')),
    JWT_SECRET: 'a secret of the tests that is long enough',
    ENCRYPTION_KEYS: `tests:${'A'.repeat(43)}=`,
  };
}
