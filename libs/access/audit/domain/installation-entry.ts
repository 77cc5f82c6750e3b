import { type Caller, isStorableText } from '#lib/kernel';

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

/** A route that changes something besides tasks, or another one. */
export type RouteKind = 'change' | 'read';

const MAX_EMAIL = 320;
/** The operations whose answer has the tokens of the user. */
export const SIGN_INS: ReadonlySet<string> = new Set([
  'signIn',
  'signUpByInvitation',
  'completeSingleSignOn',
  'completeDeviceSignIn',
]);
/**
 * The requests of people who are not signed in yet, but not the exchange of a refresh token, which
 * is routine.
 */
const OF_STRANGERS: ReadonlySet<string> = new Set(['signUp', ...SIGN_INS]);
const FLAGS = ['isOperator', 'disabled', 'emailVerified'] as const;

export function isRefusal(status: number): boolean {
  return status === 401 || status === 403 || status === 429;
}

/**
 * True for a refusal of credentials or rights on a route that changes nothing, or tasks only.
 * Expired tokens are routine: each client meets one every quarter of an hour.
 */
export function isRefusedRead(status: number, payload: unknown): boolean {
  if (status === 403) return true;
  return status === 401 && !(typeof payload === 'string' && payload.includes('"token_expired"'));
}

/**
 * True if a request without a workspace is an entry: actions of people, and refusals. Gateways and
 * senders of events to hooks have no account, and send many requests.
 */
export function isKeptInInstallation(
  operation: string,
  status: number,
  { isSignedIn }: { isSignedIn: boolean },
): boolean {
  if (isRefusal(status)) return true;
  return status >= 200 && status < 300 && (isSignedIn || OF_STRANGERS.has(operation));
}

/** The account that a body names, as people type it. Anything else could be a pasted secret. */
export function accountIn(body: unknown): string | null {
  const { email } = (body ?? {}) as Record<string, unknown>;
  if (typeof email !== 'string' || email.length > MAX_EMAIL) return null;
  return email.includes('@') && isStorableText(email) ? email.trim().toLowerCase() : null;
}

/** The caller of a refused request in a workspace. */
export function detailsOfCaller(caller: Caller): Record<string, string> {
  const { workspaceId } = caller;
  if (caller.kind === 'api_key') return { workspaceId, apiKeyId: caller.apiKeyId };
  if (caller.kind === 'agent') return { workspaceId, agentId: caller.agentId };
  if (caller.kind === 'run') return { workspaceId, agentId: caller.agentId, runId: caller.runId };
  return { workspaceId };
}

/** The flags of an account that a body sets. */
export function flagsIn(body: unknown): Record<string, boolean> {
  const fields = (body ?? {}) as Record<string, unknown>;
  const set = FLAGS.filter((name) => typeof fields[name] === 'boolean');
  return Object.fromEntries(set.map((name) => [name, fields[name] as boolean]));
}
