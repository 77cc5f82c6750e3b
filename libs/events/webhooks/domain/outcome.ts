import type { Kind } from './kinds.js';

/** The result of one attempt to send. */
export type Outcome =
  /** The receiver has accepted it. */
  | { kind: 'delivered'; status: number }
  /** The receiver no longer exists or wants no more messages. */
  | { kind: 'gone'; status: number }
  /** The receiver will never accept this message. */
  | { kind: 'refused'; status: number }
  | { kind: 'failed'; status: number; retryAfterMs?: number }
  | { kind: 'unanswered'; error: SendError };

/** The reason for a missing answer. */
export type SendError =
  /** The name leads to a forbidden address. */
  | 'address_refused'
  | 'name_not_resolved'
  | 'timeout'
  | 'tls_failed'
  | 'connection_failed'
  /** Its signing secret or its URL cannot be decrypted. */
  | 'secret_unreadable'
  /** The server no longer has SMTP_URL. */
  | 'no_mail_server'
  /** No recipient is still a member. */
  | 'no_recipient';

/** The part of an answer that was read. */
export interface Answer {
  status: number;
  /** The wait that its header requests. */
  retryAfterMs?: number;
  text: string;
}

export function outcomeOf(kind: Kind, { status, retryAfterMs, text }: Answer): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  if (isGone(kind, status, text)) return { kind: 'gone', status };
  // A message that Slack and Discord call malformed stays malformed. The next message may differ.
  if (kind !== 'signed' && status === 400) return { kind: 'refused', status };
  // Redirects, too, because they are not followed.
  const asked = kind === 'discord' ? discordWait(text) : undefined;
  return { kind: 'failed', status, retryAfterMs: asked ?? retryAfterMs };
}

/**
 * Slack's words for a channel, webhook or workspace that no longer exists.
 *
 * Source: docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, "Handling errors".
 */
const SLACK_GONE =
  /\b(?:no_service|no_service_id|channel_is_archived|channel_not_found|no_team|team_disabled|invalid_token)\b/;
/**
 * Discord's codes for an unknown webhook and for a token of another webhook. Source:
 * docs.discord.com, "JSON Error Codes".
 */
const DISCORD_GONE = [10_015, 50_027];

function isGone(kind: Kind, status: number, text: string): boolean {
  if (kind === 'signed') return status === 410;
  if (![401, 403, 404, 410].includes(status)) return false;
  if (kind === 'slack') return SLACK_GONE.test(text);
  return DISCORD_GONE.includes(Number(fieldOf(text, 'code')));
}

/** Discord's value in the body is exact. Its header is rounded. */
function discordWait(text: string): number | undefined {
  const seconds = fieldOf(text, 'retry_after');
  return typeof seconds === 'number' && seconds >= 0 ? Math.ceil(seconds * 1_000) : undefined;
}

function fieldOf(text: string, name: string): unknown {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null)?.[name];
  } catch {
    return undefined;
  }
}

const TIMEOUTS = /^(?:UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT|ABORT_ERR|EDNSTIMEOUT)$/;
const NAMES = /^(?:ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|EBADNAME|EFORMERR|EDNS|EAI_\w+)$/;
const TLS = /^(?:ETLS$|ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO)/;

/** The kind of an error of the HTTP client. */
export function sendErrorOf(error: unknown): SendError {
  const { name = '', code } = error as { name?: string; code?: unknown };
  const known = typeof code === 'string' ? code : '';
  if (name === 'RefusedTarget') return 'address_refused';
  if (name === 'TimeoutError' || TIMEOUTS.test(known)) return 'timeout';
  if (NAMES.test(known)) return 'name_not_resolved';
  return TLS.test(known) ? 'tls_failed' : 'connection_failed';
}
