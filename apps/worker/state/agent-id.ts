import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUuid, makeFolder, newId } from '#lib/kernel';

/**
 * The agent id of a worker with this name. It is created at the first start and kept in the data
 * folder.
 */
export function agentIdOf(dataDir: string, name: string): string {
  try {
    const id = readFileSync(agentIdFile(dataDir, name), 'utf8').trim();
    if (isUuid(id)) return id;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return newAgentId(dataDir, name);
}

/** A new id for a worker whose agent is terminated, because that agent never comes back. */
export function newAgentId(dataDir: string, name: string): string {
  const id = newId();
  makeFolder(dataDir, 0o700);
  writeFileSync(agentIdFile(dataDir, name), `${id}\n`, { mode: 0o600 });
  return id;
}

function agentIdFile(dataDir: string, name: string): string {
  return join(dataDir, `worker-${name}.id`);
}
