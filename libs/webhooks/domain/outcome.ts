/** The result of one attempt to send. */
export type Outcome =
  /** The receiver has taken it. */
  | { kind: 'delivered'; status: number }
  /** The receiver wants no more of any: 410. */
  | { kind: 'gone'; status: 410 }
  | { kind: 'failed'; status: number; retryAfterMs?: number }
  | { kind: 'unanswered'; error: SendError };

/** Why there was no answer. */
export type SendError =
  /** The name leads to an address that webhooks are not sent to. */
  | 'address_refused'
  | 'name_not_resolved'
  | 'timeout'
  | 'tls_failed'
  | 'connection_failed'
  /** Its signing secret cannot be opened. */
  | 'secret_unreadable';

/** @param retryAfterMs what the answer asked for */
export function outcomeOf(status: number, retryAfterMs: number | undefined): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  if (status === 410) return { kind: 'gone', status };
  // Redirects too: they are not followed.
  return { kind: 'failed', status, retryAfterMs };
}

const TIMEOUTS = /^(?:UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT|ABORT_ERR|EDNSTIMEOUT)$/;
const NAMES = /^(?:ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|EBADNAME|EFORMERR|EAI_\w+)$/;
const TLS = /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO)/;

/** The sort of an error of the HTTP client. */
export function sendErrorOf(error: unknown): SendError {
  const { name = '', code } = error as { name?: string; code?: unknown };
  const known = typeof code === 'string' ? code : '';
  if (name === 'RefusedTarget') return 'address_refused';
  if (name === 'TimeoutError' || TIMEOUTS.test(known)) return 'timeout';
  if (NAMES.test(known)) return 'name_not_resolved';
  return TLS.test(known) ? 'tls_failed' : 'connection_failed';
}
