import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUuid, makeFolder, newId } from '#lib/kernel';

/** The agent that a worker of this name is: made at its first start, kept in its data folder. */
export function agentIdOf(dataDir: string, name: string): string {
  try {
    const id = readFileSync(agentIdFile(dataDir, name), 'utf8').trim();
    if (isUuid(id)) return id;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return newAgentId(dataDir, name);
}

/** For a worker whose agent is terminated: that one never comes back. */
export function newAgentId(dataDir: string, name: string): string {
  const id = newId();
  makeFolder(dataDir, 0o700);
  writeFileSync(agentIdFile(dataDir, name), `${id}\n`, { mode: 0o600 });
  return id;
}

function agentIdFile(dataDir: string, name: string): string {
  return join(dataDir, `worker-${name}.id`);
}
