import { Injectable } from '@nestjs/common';
import { Database, firstRow, type SqlRunner, violatedConstraint } from '#lib/database';
import { parseJsonBody, validateDto } from '#lib/http';
import { actorOf, cut, DroverError, type HookCaller, newId, redactText } from '#lib/kernel';
import { InboundHookSecrets, TaskSecrets } from '#lib/secrets';
import { CreateTaskDto, TaskCommands, TaskCreation } from '#lib/task-manager';
import { eventOf, type HookEvent } from '../domain/event.js';
import { type Matched, reasonOf, ruleFor, subjectOf, taskOf } from '../domain/rules.js';
import { type HookKind, type HookRequest, isSigned } from '../domain/signature.js';
import { type InboundDeliveryView, toDeliveryView } from '../hooks/hook-view.js';
import {
  type DeliveryRow,
  findDelivery,
  keepDelivery,
  type Outcome,
  taskOfSubject,
} from '../store/deliveries.sql.js';
import { hookOfAddress } from '../store/hooks.sql.js';
import { HookListeners } from './hook-listeners.js';

/** Maximum number of attempts when a delivery meets a concurrent copy of itself. */
const ATTEMPTS = 3;
const MAX_DETAIL = 1_000;
/** Constraints that another delivery has satisfied, before or concurrently. */
const DONE_BEFORE = ['inbound_hook_deliveries_digest_key', 'inbound_hook_deliveries_once_key'];

/** A hook with a signed event. */
interface Delivery {
  caller: HookCaller;
  kind: HookKind;
  event: HookEvent;
  traceparent: string | undefined;
}

/** The result of a delivery before it is stored. */
interface Result {
  outcome: Outcome;
  rule?: number;
  subject?: string | null;
  once?: boolean;
  taskId?: string;
  reason?: string;
  detail?: string;
}

/** Another transaction has stored the same delivery, or created the task of its subject. */
class DoneBefore extends Error {}

/** Receives signed events and applies the rules of their hooks. */
@Injectable()
export class HookReceiver {
  constructor(
    private readonly database: Database,
    private readonly secrets: InboundHookSecrets,
    private readonly creation: TaskCreation,
    private readonly commands: TaskCommands,
    private readonly taskSecrets: TaskSecrets,
    private readonly listeners: HookListeners,
  ) {}

  /**
   * Nothing is stored of an unsigned event. A repeated delivery gets the same answer, unless it had
   * no effect: then the rules are applied again.
   *
   * @throws DroverError `invalid_hook_signature`, also if the hook does not exist;
   *   `inbound_hook_disabled`, `malformed_json`, `malformed_header`, `validation_failed`,
   *   `hook_rule_refused`; and transient errors of creating a task (`queue_full`)
   */
  async receive(hookId: string, request: HookRequest): Promise<InboundDeliveryView> {
    const hook = await this.signedFor(hookId, request);
    if (hook.disabled_at !== null) throw new DroverError('inbound_hook_disabled');
    const event = eventOf(hook.kind, request, parseJsonBody(request.body));
    const caller: HookCaller = { kind: 'hook', workspaceId: hook.workspace_id, hookId: hook.id };
    const delivery = { caller, kind: hook.kind, event, traceparent: request.traceparent };
    // Before the rules, and for a repeated delivery as well: it only makes work due.
    const heard = await this.listeners.hear(hook.workspace_id, hook.kind, event.payload);
    const matched = ruleFor(hook.rules, event);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = await this.findBefore(delivery);
      if (before && hadEffect(before)) return told(before);
      // Gitea and Forgejo repeat a delivery under another id.
      const deliveryId = before?.delivery_id ?? event.deliveryId;
      const judged = { ...delivery, event: { ...event, deliveryId } };
      const row = await this.act(judged, matched, heard).catch(unlessDoneBefore);
      if (row) return told(row);
    }
    throw new DroverError('conflict_retry', { retryAfterSeconds: 1 });
  }

  private async signedFor(hookId: string, request: HookRequest) {
    const { service } = this.database;
    const hook = await firstRow(service, hookOfAddress, [hookId]);
    if (!hook) throw new DroverError('invalid_hook_signature');
    const place = { workspaceId: hook.workspace_id, id: hook.id };
    const secrets = (await this.secrets.valid(service, [place])).get(hook.id) ?? [];
    if (!isSigned(hook.kind, request, secrets, Date.now())) {
      throw new DroverError('invalid_hook_signature');
    }
    return hook;
  }

  /** The same delivery, or one with the same body if the signature covers only the body. */
  private findBefore({ caller, event }: Delivery): Promise<DeliveryRow | undefined> {
    const { workspaceId, hookId } = caller;
    const digest = event.knownByDigest ? event.digest : null;
    const params = [workspaceId, hookId, event.deliveryId, digest];
    return firstRow(this.database.tenant(workspaceId), findDelivery, params);
  }

  /** @throws DoneBefore */
  private act(
    delivery: Delivery,
    matched: Matched | undefined,
    heard: string | undefined,
  ): Promise<DeliveryRow> {
    const tenant = this.database.tenant(delivery.caller.workspaceId);
    if (!matched && heard !== undefined) {
      const { subject } = delivery.event;
      return keep(tenant, delivery, { outcome: 'synced', subject, taskId: heard });
    }
    if (!matched) return keep(tenant, delivery, { outcome: 'ignored', reason: 'no_rule' });
    const subject = subjectOf(matched.rule, delivery.event);
    const result = { rule: matched.index, subject };
    return matched.rule.do === 'create_task'
      ? this.create(delivery, matched, result)
      : this.resume(delivery, matched, result);
  }

  private async create(
    delivery: Delivery,
    { rule, index }: Matched,
    result: { rule: number; subject: string | null },
  ): Promise<DeliveryRow> {
    const { caller, event } = delivery;
    const tenant = this.database.tenant(caller.workspaceId);
    const once = (rule.once ?? true) && result.subject !== null;
    const before = once ? await this.taskOf(delivery, result.subject) : undefined;
    if (before) return keep(tenant, delivery, { ...result, outcome: 'known', taskId: before });
    const { deliveryId, name } = event;
    const source = { hookId: caller.hookId, event: name, deliveryId, subject: result.subject };
    let kept: DeliveryRow | undefined;
    try {
      const task = validateDto(CreateTaskDto, taskOf(rule, event, source));
      await this.creation.createWith(caller, task, {
        traceparent: delivery.traceparent,
        keep: async (tx, [made]) => {
          const created = { ...result, outcome: 'created', once, taskId: made?.id } as const;
          kept = await keep(tx, delivery, created);
        },
      });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const detail = sentenceOf(error, index);
      return keep(tenant, delivery, { ...result, outcome: 'refused', reason: error.code, detail });
    }
    if (!kept) throw new Error('A task was made whose delivery was not kept.');
    return kept;
  }

  private async resume(
    delivery: Delivery,
    { rule }: Matched,
    result: { rule: number; subject: string | null },
  ): Promise<DeliveryRow> {
    const { caller, event, kind } = delivery;
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const taskId = result.subject && (await this.taskOf(delivery, result.subject));
    if (!taskId) {
      return keep(tenant, delivery, { ...result, outcome: 'ignored', reason: 'no_task' });
    }
    const text = reasonOf(rule, kind, event);
    const reason = text && (await this.taskSecrets.hideIn(text, tenant, workspaceId, [taskId]));
    const request = { actor: actorOf(caller), reason };
    const { row, wake } = await tenant.transaction(async (tx) => {
      const command = { ids: [taskId], request };
      const obeyed = await this.commands.obey(tx, workspaceId, 'resume', command);
      const came: Result =
        obeyed.moved.length > 0
          ? { ...result, outcome: 'resumed', taskId }
          : { ...result, outcome: 'ignored', reason: 'not_paused' };
      return { row: await keep(tx, delivery, came), wake: obeyed.wake };
    });
    wake();
    return row;
  }

  private async taskOf({ caller }: Delivery, subject: string | null): Promise<string | undefined> {
    const { workspaceId, hookId } = caller;
    const params = [workspaceId, hookId, hidden(subject)];
    return (await firstRow(this.database.tenant(workspaceId), taskOfSubject, params))?.task_id;
  }
}

/** @throws DoneBefore */
async function keep(
  runner: SqlRunner,
  { caller, event }: Delivery,
  { rule, subject, outcome, once = false, taskId, reason, detail }: Result,
): Promise<DeliveryRow> {
  const { deliveryId, digest, knownByDigest, name } = event;
  const row = await firstRow(runner, keepDelivery, [
    caller.workspaceId,
    caller.hookId,
    newId(),
    deliveryId,
    digest,
    knownByDigest,
    redactText(name),
    hidden(subject ?? null),
    rule ?? null,
    outcome,
    once,
    taskId ?? null,
    reason ?? null,
    detail === undefined ? null : cut(redactText(detail), MAX_DETAIL),
  ]);
  if (!row) throw new DoneBefore();
  return row;
}

function hidden(subject: string | null): string | null {
  return subject && redactText(subject);
}

function unlessDoneBefore(error: unknown): undefined {
  const isDoneBefore = DONE_BEFORE.includes(violatedConstraint(error) ?? '');
  if (!(error instanceof DoneBefore) && !isDoneBefore) throw error;
}

/** A refusal that the same event would meet again unless somebody changes something. */
function isRefusal(error: unknown): error is DroverError {
  return error instanceof DroverError && error.spec.status < 500 && error.spec.status !== 429;
}

function sentenceOf({ extras, spec }: DroverError, rule: number): string {
  const named = extras.errors?.map(
    ({ field, message }) => `rules[${rule}].task.${field} ${message}`,
  );
  return named?.join('; ') ?? extras.detail ?? spec.title;
}

/** An effect is not repeated. */
function hadEffect({ outcome }: DeliveryRow): boolean {
  return outcome === 'created' || outcome === 'resumed';
}

/** @throws DroverError `hook_rule_refused` */
function told(row: DeliveryRow): InboundDeliveryView {
  if (row.outcome !== 'refused') return toDeliveryView(row);
  throw new DroverError('hook_rule_refused', {
    ...(row.detail !== null && { detail: row.detail }),
    members: { reason: row.reason, deliveryId: row.delivery_id },
  });
}
