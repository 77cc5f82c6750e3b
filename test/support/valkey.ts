import { randomBytes } from 'node:crypto';
import { testServers } from './servers.js';

/** The test run's Valkey with a key prefix for one test file. */
export function testValkey(): { url: string; keyPrefix: string } {
  return { url: testServers().valkeyUrl, keyPrefix: `${randomBytes(6).toString('hex')}:` };
}
