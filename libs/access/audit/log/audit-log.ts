import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Companion, type CompanionStep, Database } from '#lib/database';
import { isHotRoute, operationOf } from '#lib/http';
import type { AuthenticatedRequest } from '#lib/identity';
import { actorOf, type Caller, isUuid, type Page, toPage } from '#lib/kernel';
import { instruments, Logger } from '#lib/observability';
import {
  accountIn,
  detailsOfCaller,
  flagsIn,
  type InstallationEntry,
  isKeptInInstallation,
  isRefusedRead,
  type RouteKind,
  SIGN_INS,
} from '../domain/installation-entry.js';
import { firstIdOf, isKeptRoute, isOfApi, isKeptStatus, pathWithIds } from '../domain/entry.js';
import { InstallationLog } from './installation-log.js';
import { auditEntries, type AuditRow, keepAuditEntry } from './audit-log.sql.js';

export interface AuditFilter {
  actorId?: string;
  operation?: string;
  /** Inclusive lower bound. */
  from?: string;
  /** Exclusive upper bound. */
  to?: string;
}

export interface AuditEntryView {
  id: string;
  createdAt: string;
  actorKind: 'user' | 'api_key';
  actorId: string;
  actorName: string | null;
  operation: string;
  path: string;
  status: number;
  requestId: string;
  address: string;
}

/** The repetitions of a refusal are only counted, in the log of the installation. */
const REPEATED_MS = 600_000;
const REMEMBERED_REFUSALS = 20_000;

/** The audit log: who changed what in a workspace, and who was refused. */
@Injectable()
export class AuditLog {
  private readonly refused = new LRUCache<string, true>({
    max: REMEMBERED_REFUSALS,
    ttl: REPEATED_MS,
    noUpdateTTL: true,
  });

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    private readonly installation: InstallationLog,
  ) {}

  /**
   * Records requests to routes that are added from now on: a change in its own transaction if that
   * is possible, and everything else before it is answered. Of routes that change nothing, or tasks only,
   * it records refusals.
   */
  watch(fastify: FastifyInstance): void {
    const keepRefusal = (
      request: AuditedRequest,
      { statusCode }: FastifyReply,
      payload: unknown,
      done: (error: null, payload: unknown) => void,
    ) => {
      const pass = () => done(null, payload);
      if (!isRefusedRead(statusCode, payload)) return pass();
      void this.keep(request, statusCode, payload, 'read').then(pass);
    };
    fastify.addHook('onRoute', (route) => {
      const isKept = [route.method].flat().some((method) => isKeptRoute(method, route.url));
      // Agents use hot routes. The journal has what they change.
      if (!isKept || isHotRoute(route.config)) {
        if (isOfApi(route.url)) route.onSend = [route.onSend ?? [], keepRefusal].flat();
        return;
      }
      const accompany = (request: AuditedRequest, reply: FastifyReply, done: () => void) => {
        const stepFor = (tenant: string | undefined) => stepOf(request, reply.statusCode, tenant);
        request.auditEntry = new Companion(stepFor);
        request.auditEntry.accompany(done);
      };
      const keep = async (request: AuditedRequest, reply: FastifyReply, payload: unknown) => {
        request.auditEntry?.dismiss();
        if (request.auditEntry?.isCommitted !== true) {
          await this.keep(request, reply.statusCode, payload);
        }
        return payload;
      };
      route.preHandler = [route.preHandler ?? [], accompany].flat();
      route.onSend = [route.onSend ?? [], keep].flat();
    });
  }

  /**
   * Newest first.
   *
   * @param page.before the id of the last entry of the previous page; null: from the newest
   */
  async list(
    { workspaceId }: Caller,
    { actorId, operation, from, to }: AuditFilter,
    { limit, before }: { limit: number; before: string | null },
  ): Promise<Page<AuditEntryView>> {
    const ends = [before, to === undefined ? null : firstIdOf(to)].filter((id) => id !== null);
    const params = [
      workspaceId,
      actorId ?? null,
      operation ?? null,
      from === undefined ? null : firstIdOf(from),
      ends.sort()[0] ?? null,
      limit + 1,
    ];
    const rows = await this.database.tenant(workspaceId).rows(auditEntries, params);
    return toPage(rows, limit, ({ id }) => [id], toView);
  }

  /** Never fails, because the change is made whether or not its entry can be stored. */
  private async keep(
    request: AuditedRequest,
    status: number,
    payload: unknown,
    kind: RouteKind = 'change',
  ): Promise<void> {
    const entry = entryOf(request, status, payload);
    if (entry === undefined) return;
    const isOutside = entry.workspaceId === undefined;
    const isSignedIn = request.account !== undefined;
    const isKept = isOutside
      ? isKeptInInstallation(entry.operation, status, { isSignedIn })
      : status === 403;
    if (isKept) {
      await this.installation.keep(ofInstallation(request, entry, payload), kind);
    }
    if (!isKeptStatus(status) || !isWhole(entry) || this.isRepeated(entry)) return;
    try {
      await this.database.service.rows(keepAuditEntry, paramsOf(entry, false));
    } catch (error) {
      instruments.auditFailures.inc();
      this.logger.error('request is missing in the audit log', { ...entry, error });
    }
  }

  /** True if the log has the same refusal of the last ten minutes. */
  private isRepeated({ status, workspaceId, actor, operation, address }: WholeEntry): boolean {
    if (status !== 403) return false;
    const key = [workspaceId, actor.id, operation, address].join(' ');
    if (this.refused.has(key)) return true;
    this.refused.set(key, true);
    return false;
  }
}

interface AuditedRequest extends AuthenticatedRequest {
  auditEntry?: Companion;
}

/** The entry of a request in the log of a workspace or of the installation. */
interface Entry {
  workspaceId: string | undefined;
  actor: { kind: string; id: string | null } | undefined;
  operation: string;
  path: string;
  status: number;
  requestId: string;
  address: string;
}

type WholeEntry = Entry & {
  workspaceId: string;
  actor: { kind: 'user' | 'api_key'; id: string };
};

/** Undefined before the guard has admitted the request to a route. */
function entryOf(request: AuditedRequest, status: number, payload?: unknown): Entry | undefined {
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
function isWhole(entry: Entry): entry is WholeEntry {
  const { kind } = entry.actor ?? {};
  return entry.workspaceId !== undefined && (kind === 'user' || kind === 'api_key');
}

/** The statement for the transaction of a change, which its handler believes to succeed. */
function stepOf(
  request: AuditedRequest,
  status: number,
  tenant: string | undefined,
): CompanionStep | undefined {
  const entry = entryOf(request, status);
  if (entry === undefined || !isWhole(entry) || !isKeptStatus(status)) return undefined;
  if (tenant !== undefined && tenant !== entry.workspaceId) return undefined;
  return [keepAuditEntry, paramsOf(entry, true)];
}

function paramsOf(entry: WholeEntry, ifChanged: boolean): unknown[] {
  const { workspaceId, actor, operation, path, status, requestId, address } = entry;
  const about = [workspaceId, actor.kind, actor.id, operation, path, status];
  return [ifChanged, ...about, requestId, address];
}

function ofInstallation(
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

function toView({ created_at, actor_kind, actor_id, ...row }: AuditRow): AuditEntryView {
  const { id, actor_name, operation, path, status, request_id, address } = row;
  return {
    id,
    createdAt: created_at.toISOString(),
    actorKind: actor_kind,
    actorId: actor_id,
    actorName: actor_name,
    operation,
    path,
    status,
    requestId: request_id,
    address,
  };
}
