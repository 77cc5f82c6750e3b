import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Database, isUnreachable, type TenantScope, unaccompanied } from '#lib/database';
import { type Caller, DroverError, type ErrorCode, type ErrorExtras } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { toDroverError } from '../problem/to-drover-error.js';
import {
  beginIdempotent,
  type IdempotencyRecord,
  releaseKey,
  renewLock,
  type StoredAnswer,
  storeAnswer,
} from './answers.js';
import { hashRequest, readKey } from './key.js';

export interface IdempotentRequest extends FastifyRequest {
  caller?: Caller;
  idempotency?: IdempotencyRecord;
}

/** A third of the time for which a key is locked. */
const RENEW_EVERY_MS = 3_000;
/** Together about as long as a key is held for a request without an answer. */
const RELEASE_ATTEMPTS = 10;
const RELEASE_EVERY_MS = 1_000;

/** A refusal as stored. A replay rebuilds the error from it. */
interface StoredRefusal {
  code: ErrorCode;
  extras: ErrorExtras;
}

/**
 * Runs a request with an Idempotency-Key once, and answers every repetition for 24 hours with the
 * same answer. Without the header, or without a workspace for the key, it does nothing.
 */
export class IdempotentRequests {
  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
  ) {}

  /** Whether the request has a key to process. */
  concerns(request: FastifyRequest): boolean {
    return request.headers['idempotency-key'] !== undefined;
  }

  /** The answer of `work`, now or earlier. Sets `request.idempotency` while it runs. */
  async run(
    request: IdempotentRequest,
    reply: FastifyReply,
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    const key = readKey(request.headers['idempotency-key']);
    const { caller } = request;
    if (key === undefined || !caller?.workspaceId) return work();

    const tenant = this.database.tenant(caller.workspaceId);
    const requestHash = hashRequest(request, caller);
    const beginning = await unaccompanied(() =>
      beginIdempotent(tenant, tenant.workspaceId, { key, requestHash }),
    );
    if (beginning.kind === 'repeated') return replay(beginning.answer, reply);

    const { record } = beginning;
    request.idempotency = record;
    const renewing = setInterval(() => void this.renew(tenant, record), RENEW_EVERY_MS).unref();
    try {
      const body = await work();
      const answer = { status: reply.statusCode, body };
      return await unaccompanied(() => this.keep(tenant, record, answer));
    } catch (error) {
      return await unaccompanied(() => this.keepRefusal(tenant, record, error));
    } finally {
      clearInterval(renewing);
    }
  }

  private async renew({ workspaceId }: TenantScope, record: IdempotencyRecord): Promise<void> {
    const { service } = this.database;
    await unaccompanied(() => renewLock(service, workspaceId, record)).catch((error: unknown) =>
      this.logger.warn('idempotency key not renewed', { workspaceId, error }),
    );
  }

  /** The work is done, so a failure to store the answer must not change the client's answer. */
  private async keep(
    tenant: TenantScope,
    record: IdempotencyRecord,
    answer: StoredAnswer,
  ): Promise<unknown> {
    if (!record.stored) {
      await storeAnswer(tenant, tenant.workspaceId, record, answer).catch((error: unknown) =>
        this.logger.warn('answer of an idempotent request not kept', {
          workspaceId: tenant.workspaceId,
          error,
        }),
      );
    }
    return answer.body;
  }

  private async keepRefusal(
    tenant: TenantScope,
    record: IdempotencyRecord,
    error: unknown,
  ): Promise<never> {
    const refusal = toDroverError(error);
    const settle = isFinal(refusal)
      ? storeAnswer(tenant, tenant.workspaceId, record, refusalOf(refusal))
      : releaseKey(tenant, tenant.workspaceId, record);
    await settle.catch((failure: unknown) => {
      const { workspaceId } = tenant;
      this.logger.warn('idempotency key not settled', { workspaceId, error: failure });
      if (!isFinal(refusal)) void releaseLater(tenant, record);
    });
    throw error;
  }
}

/**
 * The database that failed the request could not release the key either. It is released as soon as
 * possible, so that the client's next attempt need not wait for its expiry.
 */
async function releaseLater(tenant: TenantScope, record: IdempotencyRecord): Promise<void> {
  for (let attempt = 0; attempt < RELEASE_ATTEMPTS; attempt++) {
    await delay(RELEASE_EVERY_MS, undefined, { ref: false });
    const released = await releaseKey(tenant, tenant.workspaceId, record).then(
      () => true,
      (error: unknown) => !isUnreachable(error),
    );
    if (released) return;
  }
}

/**
 * Refusals that the next attempt may not meet: the other request has ended, or the limit was
 * raised.
 */
const PASSING: readonly ErrorCode[] = ['idempotency_in_progress', 'exceeds_queue'];

/**
 * Whether the same request would be refused again. After other refusals the next attempt can
 * succeed.
 */
function isFinal(error: DroverError): boolean {
  const { status } = error.spec;
  return status < 500 && status !== 429 && !PASSING.includes(error.code);
}

function refusalOf({ code, spec, extras }: DroverError): StoredAnswer {
  const { detail, errors, members } = extras;
  const body: StoredRefusal = { code, extras: { detail, errors, members } };
  return { status: spec.status, body };
}

function replay(answer: StoredAnswer, reply: FastifyReply): unknown {
  void reply.header('idempotency-replayed', 'true');
  if (answer.status >= 400) {
    const { code, extras } = answer.body as StoredRefusal;
    throw new DroverError(code, extras);
  }
  void reply.code(answer.status);
  return answer.body;
}
