import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from './home.js';

/** Variables that grant access. */
const SECRETS = new Set([
  'DATABASE_URL',
  'DATABASE_SERVICE_URL',
  'DATABASE_OWNER_URL',
  'VALKEY_URL',
  'JWT_SECRET',
  'JWT_PREVIOUS_SECRETS',
  'ENCRYPTION_KEYS',
  'METRICS_TOKEN',
  'GATEWAY_SECRET',
  'DROVER_API_KEY',
  'DROVER_AGENT_TOKEN',
  'DROVER_WORKER_METRICS_TOKEN',
]);

/**
 * Returns the environment of a program with its secrets in files that only their owner can read,
 * because every process of the same user can read an environment.
 *
 * @param folder the folder of the program's files
 */
export function withSecretFiles(
  folder: string,
  env: Record<string, string>,
): Record<string, string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const entries = Object.entries(env).map(([name, value]) => {
    if (!SECRETS.has(name) || value === '') return [name, value] as const;
    const file = join(folder, name);
    writePrivate(file, value);
    return [`${name}_FILE`, file] as const;
  });
  return Object.fromEntries(entries);
}
