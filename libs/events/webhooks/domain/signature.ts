import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** The signed content. The receiver builds the same from the headers and the raw body. */
export interface SignedMessage {
  /** The header `webhook-id`, the same at each attempt. */
  id: string;
  /** Time of this attempt in whole seconds since 1970. */
  timestamp: number;
  body: string;
}

/**
 * The headers of Standard Webhooks with one signature for each secret.
 *
 * Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
 *
 * @param secrets the current one first, then the previous one while it is valid
 */
export function standardHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): Record<string, string> {
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}

/**
 * GitHub's header: it signs only the body, with the secret's whole text as the key. It has room for
 * one signature.
 */
export function hubHeader(body: string, secret: string): Record<string, string> {
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  return { 'x-hub-signature-256': `sha256=${digest}` };
}
