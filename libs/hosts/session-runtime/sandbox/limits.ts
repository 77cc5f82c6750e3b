import { SpawnError } from '../drivers/driver.js';

/** The limits of one session; 0: no limit. */
export interface SessionLimits {
  /** Memory of all its processes together, in MiB. */
  memoryMb: number;
  /** Its processes and threads, those of the sandbox included. */
  processes: number;
  /** The content of its folder, in MiB. */
  diskMb: number;
  /** Files that each of its processes can have open. */
  openFiles: number;
}

export const NO_LIMITS: SessionLimits = { memoryMb: 0, processes: 0, diskMb: 0, openFiles: 0 };

/**
 * A Node program cannot run with less. `npm run` with a Node script has 29 processes and threads
 * and 70 MiB of memory, those of the sandbox included.
 */
export const LOWEST_LIMITS: SessionLimits = {
  memoryMb: 128,
  processes: 48,
  diskMb: 1,
  openFiles: 64,
};

const NAMES = Object.keys(LOWEST_LIMITS) as (keyof SessionLimits)[];

/**
 * Reads the limits that a task asks for.
 *
 * @param name of the member, for the message
 * @throws SpawnError in a sentence that names the wrong member
 */
export function readLimits(value: unknown, name: string): Partial<SessionLimits> | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new SpawnError('setup', `${name} must be an object of ${NAMES.join(', ')}`);
  }
  for (const [member, limit] of Object.entries(value)) checkMember(`${name}.${member}`, limit);
  return value;
}

/**
 * The limits of a session: its own, else the host's.
 *
 * @param most the host's maximum
 * @throws SpawnError when the session asks for more than the maximum
 */
export function limitsOf(
  asked: Partial<SessionLimits> = {},
  standard: SessionLimits,
  most: SessionLimits,
): SessionLimits {
  for (const name of NAMES) {
    if (!isAbove(asked[name] ?? 0, most[name])) continue;
    const message = `limits.${name} may be at most ${most[name]} on this host`;
    throw new SpawnError('setup', message);
  }
  return { ...standard, ...asked };
}

/** The limits, or the maximum where they exceed it. */
export function capLimits(limits: SessionLimits, most: SessionLimits): SessionLimits {
  const cap = (name: keyof SessionLimits): number =>
    isAbove(limits[name] || Infinity, most[name]) ? most[name] : limits[name];
  return Object.fromEntries(NAMES.map((name) => [name, cap(name)])) as unknown as SessionLimits;
}

/** True if the value exceeds the limit. A limit of 0 is none. */
function isAbove(value: number, limit: number): boolean {
  return limit > 0 && value > limit;
}

function checkMember(path: string, limit: unknown): void {
  const member = NAMES.find((name) => name === path.split('.').at(-1));
  if (member === undefined) {
    throw new SpawnError('setup', `${path} is no limit: there are ${NAMES.join(', ')}`);
  }
  const lowest = LOWEST_LIMITS[member];
  if (typeof limit === 'number' && Number.isSafeInteger(limit) && limit >= lowest) return;
  throw new SpawnError('setup', `${path} must be a whole number of at least ${lowest}`);
}
