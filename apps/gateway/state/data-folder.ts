import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import { isAlive, type ProcessRef, readProcess } from '#lib/runtime';

interface Identity {
  gatewayId: string;
  /** The process that works with this folder. */
  owner: ProcessRef;
}

/** What a gateway keeps between its lives. */
export interface DataFolder {
  gatewayId: string;
  recordsDir: string;
  sessionsDir: string;
}

/**
 * Takes the data folder over from an earlier life.
 *
 * @param settings.passable whether others may go through it to what they know the path of: sessions of
 *   another user have to
 * @throws Error in a sentence when another gateway lives on it, or it can't be used
 */
export function openDataFolder(
  dir: string,
  { gatewayId, passable = false }: { gatewayId?: string; passable?: boolean },
): DataFolder {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (passable) chmodSync(dir, 0o711);
  const path = join(dir, 'gateway.json');
  const earlier = readIdentity(path);
  if (earlier !== undefined && earlier.owner.pid !== process.pid && isAlive(earlier.owner)) {
    throw new Error(
      `Process ${earlier.owner.pid} already works with the data folder ${dir}: give this gateway another GATEWAY_DATA_DIR.`,
    );
  }
  const owner = { pid: process.pid, startTicks: readProcess(process.pid)?.startTicks ?? 0 };
  const identity = { gatewayId: gatewayId ?? earlier?.gatewayId ?? newId(), owner };
  writeFileSync(`${path}.new`, JSON.stringify(identity), { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return {
    gatewayId: identity.gatewayId,
    recordsDir: join(dir, 'records'),
    sessionsDir: join(dir, 'sessions'),
  };
}

function readIdentity(path: string): Identity | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Identity;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`The file ${path} can not be read; remove it to start as a new gateway.`, {
      cause: error,
    });
  }
}
