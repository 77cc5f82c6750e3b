import { isStorableText } from '#lib/kernel';

/** A request that belongs to no workspace. */
export interface InstallationEntry {
  actorId: string | null;
  /** The address that somebody tried. Null: the address of the actor. */
  account: string | null;
  operation: string;
  path: string;
  status: number;
  details: Record<string, unknown>;
  attempts: number;
  requestId: string;
  address: string;
}

const MAX_EMAIL = 320;
/** Every client repeats it each quarter of an hour. */
const ROUTINE = 'refreshTokens';
const FLAGS = ['isOperator', 'disabled'] as const;

export function isRefusal(status: number): boolean {
  return status === 401 || status === 403 || status === 429;
}

export function isKeptInInstallation(operation: string, status: number): boolean {
  return isRefusal(status) || (status >= 200 && status < 300 && operation !== ROUTINE);
}

/** The account that a body names, as people type it. Anything else could be a pasted secret. */
export function accountIn(body: unknown): string | null {
  const { email } = (body ?? {}) as Record<string, unknown>;
  if (typeof email !== 'string' || email.length > MAX_EMAIL) return null;
  return email.includes('@') && isStorableText(email) ? email.trim().toLowerCase() : null;
}

/** The flags of an account that a body sets. */
export function flagsIn(body: unknown): Record<string, boolean> {
  const fields = (body ?? {}) as Record<string, unknown>;
  const set = FLAGS.filter((name) => typeof fields[name] === 'boolean');
  return Object.fromEntries(set.map((name) => [name, fields[name] as boolean]));
}
