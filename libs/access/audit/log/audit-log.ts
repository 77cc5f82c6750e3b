import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Companion, Database } from '#lib/database';
import { isHotRoute } from '#lib/http';
import { type Caller, type Page, toPage } from '#lib/kernel';
import { instruments, Logger } from '#lib/observability';
import {
  isKeptInInstallation,
  isRefusal,
  isRefusedRead,
  type RouteKind,
} from '../domain/installation-entry.js';
import { firstIdOf, isKeptRoute, isKeptStatus, isOfApi } from '../domain/entry.js';
import { InstallationLog } from './installation-log.js';
import { auditEntries, type AuditRow, keepAuditEntry } from './audit-log.sql.js';
import {
  type AuditedRequest,
  entryOf,
  isWhole,
  ofInstallation,
  paramsOf,
  stepOf,
  stepOfChange,
  type WholeEntry,
} from './request-entry.js';

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
  /** The facts that the request alone does not tell. */
  details: Record<string, unknown>;
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
   * is possible, and everything else before it is answered. Of routes that change nothing, or tasks
   * only, it records refusals.
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
      if (!isOfApi(route.url)) return;
      const methods = [route.method].flat();
      // Agents use hot routes. The journal has what they change.
      const isKept =
        !isHotRoute(route.config) && methods.some((method) => isKeptRoute(method, route.url));
      const accompany = (request: AuditedRequest, reply: FastifyReply, done: () => void) => {
        request.auditEntry = new Companion(
          (tenant) => (isKept ? stepOf(request, reply.statusCode, tenant) : undefined),
          (change) => stepOfChange(request, reply.statusCode, change),
        );
        request.auditEntry.accompany(done);
      };
      const keep = async (request: AuditedRequest, reply: FastifyReply, payload: unknown) => {
        request.auditEntry?.dismiss();
        // A repetition changes nothing. The first request has the entry.
        if (reply.hasHeader('idempotency-replayed') && reply.statusCode < 300) return payload;
        if (request.auditEntry?.isCommitted !== true) {
          await this.keep(request, reply.statusCode, payload);
        }
        return payload;
      };
      route.preHandler = [route.preHandler ?? [], accompany].flat();
      route.onSend = [route.onSend ?? [], isKept ? keep : keepRefusal].flat();
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
    const isDescribed = !isRefusal(status) && request.describedIn?.has(entry.workspaceId);
    if (isDescribed === true) return;
    if (isKept) {
      await this.installation.keep(ofInstallation(request, entry, payload), kind);
    }
    if (!isKeptStatus(status) || !isWhole(entry) || this.isRepeated(entry)) return;
    try {
      await this.database.service.rows(keepAuditEntry, paramsOf(entry));
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

function toView({ created_at, actor_kind, actor_id, ...row }: AuditRow): AuditEntryView {
  const { id, actor_name, operation, path, status, request_id, address, details } = row;
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
    details,
  };
}
