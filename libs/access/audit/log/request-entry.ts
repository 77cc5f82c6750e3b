import type { Companion, CompanionStep, DescribedChange, Step } from '#lib/database';
import { operationOf } from '#lib/http';
import type { AuthenticatedRequest } from '#lib/identity';
import { actorOf, isUuid } from '#lib/kernel';
import {
  accountIn,
  detailsOfCaller,
  flagsIn,
  type InstallationEntry,
  SIGN_INS,
} from '../domain/installation-entry.js';
import { isKeptStatus, pathWithIds } from '../domain/entry.js';
import { keepAuditEntry } from './audit-log.sql.js';
import { paramsOfInstallation } from './installation-log.js';
import { insertInstallationEntry } from './installation-log.sql.js';

/** A request on its way to an entry. */
export interface AuditedRequest extends AuthenticatedRequest {
  auditEntry?: Companion;
  /**
   * The logs that have the entry of its operation with details: ids of workspaces, undefined for
   * the installation.
   */
  describedIn?: Set<string | undefined>;
}

/** The entry of a request in the log of a workspace or of the installation. */
export interface Entry {
  workspaceId: string | undefined;
  actor: { kind: string; id: string | null } | undefined;
  operation: string;
  path: string;
  status: number;
  requestId: string;
  address: string;
}

export type WholeEntry = Entry & {
  workspaceId: string;
  actor: { kind: 'user' | 'api_key'; id: string };
};

/** Undefined before the guard has admitted the request to a route. */
export function entryOf(
  request: AuditedRequest,
  status: number,
  payload?: unknown,
): Entry | undefined {
  const { caller, account, handledBy, id: requestId, ip: address } = request;
  if (!handledBy) return undefined;
  const operation = operationOf(handledBy.getClass(), handledBy.getHandler());
  const path = pathWithIds(request.routeOptions.url ?? '', request.params as object as Params);
  const workspaceId =
    caller?.workspaceId ??
    // Otherwise outsiders could fill the workspace's log.
    (status >= 300 ? undefined : workspaceOf(request, operation, payload));
  const actor = caller ? actorOf(caller) : account && { kind: 'user', id: account.userId };
  return { workspaceId, actor, operation, path, status, requestId, address };
}

/** True if the log of a workspace has it: entries of agents and runs are in the journal. */
export function isWhole(entry: Entry): entry is WholeEntry {
  const { kind } = entry.actor ?? {};
  return entry.workspaceId !== undefined && (kind === 'user' || kind === 'api_key');
}

/** The statement for the transaction of a change, which its handler believes to succeed. */
export function stepOf(
  request: AuditedRequest,
  status: number,
  tenant: string | undefined,
): CompanionStep | undefined {
  const entry = entryOf(request, status);
  if (entry === undefined || !isWhole(entry) || !isKeptStatus(status)) return undefined;
  if (tenant !== undefined && tenant !== entry.workspaceId) return undefined;
  return [keepAuditEntry, paramsOf(entry, { ifChanged: true })];
}

/** The statement for the transaction of a change that the request does not describe. */
export function stepOfChange(
  request: AuditedRequest,
  status: number,
  { workspaceId, userId, details }: DescribedChange,
): Step | undefined {
  const entry = entryOf(request, status);
  if (entry === undefined) return undefined;
  // The guard links accounts before it knows the caller: the operation then has its own entry.
  if (
    SIGN_INS.has(entry.operation) ||
    request.account !== undefined ||
    request.caller !== undefined
  ) {
    (request.describedIn ??= new Set()).add(workspaceId);
  }
  if (workspaceId === undefined) {
    const { operation, path, requestId, address } = entry;
    const about = { operation, path, status, details, attempts: 1, requestId, address };
    const made = { ...about, actorId: userId, account: null };
    return [insertInstallationEntry, paramsOfInstallation(made)];
  }
  const isOfCaller = isWhole(entry) && entry.workspaceId === workspaceId;
  const actor = isOfCaller ? entry.actor : ({ kind: 'user', id: userId } as const);
  return [keepAuditEntry, paramsOf({ ...entry, workspaceId, actor }, { details })];
}

/** @param how.ifChanged only a transaction that has written stores the entry */
export function paramsOf(
  entry: WholeEntry,
  { ifChanged = false, details = {} }: { ifChanged?: boolean; details?: Params } = {},
): unknown[] {
  const { workspaceId, actor, operation, path, status, requestId, address } = entry;
  const about = [workspaceId, actor.kind, actor.id, operation, path, status];
  return [ifChanged, ...about, requestId, address, JSON.stringify(details)];
}

export function ofInstallation(
  request: AuditedRequest,
  { operation, path, status, requestId, address }: Entry,
  payload: unknown,
): InstallationEntry {
  const { account, caller } = request;
  const about = { operation, path, status, attempts: 1, requestId, address };
  if (caller !== undefined) {
    const actorId = 'userId' in caller ? caller.userId : null;
    return { ...about, actorId, account: null, details: detailsOfCaller(caller) };
  }
  return {
    ...about,
    actorId: account?.userId ?? userSignedIn(operation, payload),
    account: account ? null : accountIn(request.body),
    details: detailsOf(request, account !== undefined),
  };
}

type Params = Record<string, unknown>;

/** The flags that an operator sets, and the address of a new account. */
function detailsOf({ body }: AuthenticatedRequest, isSignedIn: boolean): Params {
  const email = isSignedIn ? accountIn(body) : null;
  return { ...flagsIn(body), ...(email === null ? {} : { email }) };
}

function userSignedIn(operation: string, payload: unknown): string | null {
  if (!SIGN_INS.has(operation) || typeof payload !== 'string') return null;
  const { userId } = JSON.parse(payload) as Params;
  return isUuid(userId) ? userId : null;
}

/** The workspace that a request without one has changed: that of its path, or of its answer. */
function workspaceOf(
  { params }: AuthenticatedRequest,
  operation: string,
  payload: unknown,
): string | undefined {
  const { workspaceId: named } = params as Params;
  if (isUuid(named)) return named;
  if (typeof payload !== 'string' || !payload.startsWith('{')) return undefined;
  const answer = JSON.parse(payload) as Params;
  const id = answer[operation === 'createWorkspace' ? 'id' : 'workspaceId'];
  return isUuid(id) ? id : undefined;
}
