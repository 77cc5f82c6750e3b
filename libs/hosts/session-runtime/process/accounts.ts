import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { SpawnError } from '../drivers/driver.js';
import type { SessionUser } from './session-folder.js';

/** User and group numbers that the accounts of workspaces have, both ends included. */
export interface AccountRange {
  first: number;
  last: number;
}

/**
 * Names the account that runs the sessions of a workspace.
 *
 * @throws SpawnError when every account belongs to another workspace
 */
export type Accounts = (workspaceId: string | undefined) => SessionUser;

/** The owner of sessions without a workspace. */
const NO_WORKSPACE = 'none';

/**
 * One account for each workspace. A link in `dir`, named by the number, holds the workspace's id.
 * The system creates a link only once, so hosts that share the folder never give one number to two
 * workspaces. The search starts at a number that the id determines: a lost folder seldom changes an
 * assignment.
 */
export function accountsIn(dir: string, { first, last }: AccountRange): Accounts {
  const known = new Map<string, SessionUser>();
  const size = last - first + 1;
  const find = (owner: string): SessionUser => {
    const start = numberFrom(owner);
    for (let step = 0; step < size; step += 1) {
      const id = first + ((start + step) % size);
      if (claimLink(join(dir, String(id)), owner)) return { uid: id, gid: id };
    }
    throw new SpawnError(
      'infrastructure',
      `All accounts from ${first} to ${last} belong to other workspaces (DROVER_ACCOUNTS)`,
    );
  };
  return (workspaceId = NO_WORKSPACE) => {
    const user = known.get(workspaceId) ?? find(workspaceId);
    known.set(workspaceId, user);
    return user;
  };
}

/** @returns undefined when accounts of the range can run sessions, else the reason why not */
export function whyNoAccounts({ first, last }: AccountRange): string | undefined {
  if (process.platform !== 'linux') return 'only Linux has accounts without an entry';
  if (process.getuid?.() !== 0) return 'only root can change the user';
  const isMapped = ['uid_map', 'gid_map'].every((name) => mapHolds(name, first, last));
  return isMapped ? undefined : `this container has no user numbers from ${first} to ${last}`;
}

/** The name of a user or group of this machine whose number lies in the range. */
export function accountWithin({ first, last }: AccountRange): string | undefined {
  const lines = ['/etc/passwd', '/etc/group'].flatMap((file) => linesOf(file));
  const taken = lines.find((line) => {
    const id = Number(line.split(':')[2]);
    return id >= first && id <= last;
  });
  return taken?.split(':')[0];
}

/** @returns whether the link names the owner now */
function claimLink(path: string, owner: string): boolean {
  try {
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    symlinkSync(owner, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readlinkSync(path) === owner;
  }
}

function numberFrom(owner: string): number {
  return createHash('sha256').update(owner).digest().readUInt32BE(0);
}

function mapHolds(name: string, first: number, last: number): boolean {
  const lines = linesOf(`/proc/self/${name}`).map((line) => line.trim().split(/\s+/).map(Number));
  return lines.some(([inside = 0, , count = 0]) => first >= inside && last < inside + count);
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
