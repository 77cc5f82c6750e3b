import { join } from 'node:path';
import { takeOver } from '#lib/agent-host';
import { makeFolder, newId } from '#lib/kernel';
import type { ProcessRef } from '#lib/session-runtime';

interface Identity {
  gatewayId: string;
  /** The process that works with this folder. */
  owner: ProcessRef;
}

/** The files of a gateway that survive a restart. */
export interface DataFolder {
  gatewayId: string;
  recordsDir: string;
  sessionsDir: string;
}

/**
 * Takes the data folder over from an earlier process.
 *
 * @throws Error in a sentence if another living gateway owns it, or if it cannot be used
 */
export function openDataFolder(dir: string, gatewayId?: string): DataFolder {
  makeFolder(dir, 0o700);
  const conflict = `the data folder ${dir}: give this gateway another GATEWAY_DATA_DIR`;
  const identity = takeOver<Identity>(join(dir, 'gateway.json'), conflict, (earlier) => ({
    gatewayId: gatewayId ?? earlier?.gatewayId ?? newId(),
  }));
  return {
    gatewayId: identity.gatewayId,
    recordsDir: join(dir, 'records'),
    sessionsDir: join(dir, 'sessions'),
  };
}
