import type { Kind, QuietHours } from '../domain/kinds.js';
import type { AttemptRow, DeliveryRow, DeliveryState } from '../store/deliveries.sql.js';
import type { WebhookRow } from '../store/webhooks.sql.js';

/** A webhook in the API, never with its secret. */
export interface WebhookView {
  id: string;
  kind: Kind;
  url: string;
  recipients: string[] | null;
  events: string[];
  description: string | null;
  hubSignature: boolean;
  enabled: boolean;
  disabledReason: 'user' | 'gone' | null;
  consecutiveFailures: number;
  previousSecretExpiresAt: string | null;
  template: string | null;
  digestSeconds: number | null;
  digestMax: number | null;
  quietHours: QuietHours | null;
  createdBy: string | null;
  version: number;
  createdAt: string;
  updatedAt: string;
}

export interface AttemptView {
  number: number;
  startedAt: string;
  durationMs: number;
  url: string;
  status: number | null;
  error: string | null;
  answer: string | null;
}

/** A message for one webhook with the results of its attempts. */
export interface DeliveryView {
  id: string;
  event: string;
  state: DeliveryState;
  messageId: string;
  /** Null a day after a delivered event. */
  body: string | null;
  occurredAt: string;
  createdAt: string;
  nextAttemptAt: string | null;
  attempts: AttemptView[];
}

export function toWebhookView(row: WebhookRow): WebhookView {
  return {
    id: row.id,
    kind: row.kind,
    url: row.url,
    recipients: row.kind === 'email' ? row.recipients : null,
    events: row.events,
    description: row.description,
    hubSignature: row.hub_signature,
    enabled: row.disabled_at === null,
    disabledReason: row.disabled_reason,
    consecutiveFailures: row.failures,
    previousSecretExpiresAt: row.previous_secret_expires_at?.toISOString() ?? null,
    template: row.notice?.template ?? null,
    digestSeconds: row.notice?.digestSeconds ?? null,
    digestMax: row.notice?.digestMax ?? null,
    quietHours: row.notice?.quietHours ?? null,
    createdBy: row.created_by,
    version: row.version,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function toDeliveryView(webhookId: string, row: DeliveryRow): DeliveryView {
  return {
    id: row.event_id,
    event: row.event,
    state: row.state,
    messageId: messageId(webhookId, row.event_id),
    body: row.payload,
    occurredAt: row.occurred_at.toISOString(),
    createdAt: row.created_at.toISOString(),
    nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
    attempts: row.attempts.map(toAttemptView),
  };
}

/**
 * The header `webhook-id` of a message: the same at each attempt, and unique among installations.
 * Ids of events are not, because each installation counts its own.
 */
export function messageId(webhookId: string, eventId: string): string {
  return `msg_${webhookId.replaceAll('-', '')}_${eventId}`;
}

function toAttemptView(row: AttemptRow): AttemptView {
  return {
    number: row.number,
    startedAt: new Date(row.started_at).toISOString(),
    durationMs: row.duration_ms,
    url: row.url,
    status: row.status,
    error: row.error,
    answer: row.answer,
  };
}
