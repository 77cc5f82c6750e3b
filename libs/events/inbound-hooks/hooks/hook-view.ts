import type { HookRule } from '../domain/rules.js';
import type { HookKind } from '../domain/signature.js';
import type { DeliveryRow, Outcome } from '../store/deliveries.sql.js';
import type { InboundHookRow } from '../store/hooks.sql.js';

/** An inbound hook in the API, never with its secret. */
export interface InboundHookView {
  id: string;
  /** The path for events, below the server's address. */
  path: string;
  kind: HookKind;
  description: string | null;
  rules: HookRule[];
  enabled: boolean;
  previousSecretExpiresAt: string | null;
  createdBy: string;
  version: number;
  createdAt: string;
  updatedAt: string;
}

/** The result of an event. */
export interface InboundDeliveryView {
  id: string;
  deliveryId: string;
  event: string;
  subject: string | null;
  outcome: Outcome;
  /** Index of the matching rule, from 0. */
  rule: number | null;
  taskId: string | null;
  reason: string | null;
  detail: string | null;
  /** SHA-256 of the body in hexadecimal. */
  digest: string;
  receivedAt: string;
}

export function toHookView(row: InboundHookRow): InboundHookView {
  return {
    id: row.id,
    path: `/api/v1/hooks/${row.id}`,
    kind: row.kind,
    description: row.description,
    rules: row.rules,
    enabled: row.disabled_at === null,
    previousSecretExpiresAt: row.previous_secret_expires_at?.toISOString() ?? null,
    createdBy: row.created_by,
    version: row.version,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function toDeliveryView(row: DeliveryRow): InboundDeliveryView {
  return {
    id: row.id,
    deliveryId: row.delivery_id,
    event: row.event,
    subject: row.subject,
    outcome: row.outcome,
    rule: row.rule,
    taskId: row.task_id,
    reason: row.reason,
    detail: row.detail,
    digest: row.digest.toString('hex'),
    receivedAt: row.received_at.toISOString(),
  };
}
