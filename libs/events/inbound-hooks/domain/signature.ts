import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export const HOOK_KINDS = ['github', 'gitea', 'gitlab', 'generic'] as const;
export type HookKind = (typeof HOOK_KINDS)[number];

/** A request as received. Nothing of it is trusted yet. */
export interface HookRequest {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The traceparent of its span. Absent if it is not traced. */
  traceparent?: string | undefined;
}

/** Standard Webhooks: maximum clock difference of the sender. */
const TOLERANCE_SECONDS = 300;
const SECRET_PREFIX = 'whsec_';
const WHOLE_SECONDS = /^\d{1,12}$/;

/**
 * Whether one of the secrets signs the request. Every comparison takes constant time.
 *
 * @param now milliseconds since 1970
 */
export function isSigned(
  kind: HookKind,
  request: HookRequest,
  secrets: readonly string[],
  now: number,
): boolean {
  switch (kind) {
    case 'github':
      return hasHubSignature(request, secrets);
    case 'gitea':
      return hasGiteaSignature(request, secrets);
    case 'gitlab':
      return hasStandardSignature(request)
        ? isStandard(request, secrets, now)
        : hasToken(request, secrets);
    case 'generic':
      return isStandard(request, secrets, now);
  }
}

/** Whether the signature covers only the body, so that the delivery id can be anything. */
export function coversBodyAlone(kind: HookKind): boolean {
  return kind === 'github' || kind === 'gitea';
}

/** The header, if it is present exactly once. */
export function headerOf({ headers }: HookRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** GitHub signs the body with the secret's whole text as the key. */
function hasHubSignature(request: HookRequest, secrets: readonly string[]): boolean {
  const given = headerOf(request, 'x-hub-signature-256') ?? '';
  return secrets.some((secret) => isSame(given, `sha256=${digestOf(request, secret)}`));
}

/** Gitea and Forgejo sign in the same way, without the name of the algorithm. */
function hasGiteaSignature(request: HookRequest, secrets: readonly string[]): boolean {
  const given = headerOf(request, 'x-gitea-signature') ?? '';
  return secrets.some((secret) => isSame(given, digestOf(request, secret)));
}

function digestOf({ body }: HookRequest, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** GitLab's older way: the secret itself. */
function hasToken(request: HookRequest, secrets: readonly string[]): boolean {
  const given = headerOf(request, 'x-gitlab-token') ?? '';
  return secrets.some((secret) => isSame(given, secret));
}

function hasStandardSignature(request: HookRequest): boolean {
  return headerOf(request, 'webhook-signature') !== undefined;
}

/** Standard Webhooks, which GitLab's signing tokens follow, sign the id, the time and the body. */
function isStandard(request: HookRequest, secrets: readonly string[], now: number): boolean {
  const id = headerOf(request, 'webhook-id') ?? '';
  const timestamp = headerOf(request, 'webhook-timestamp') ?? '';
  const given = (headerOf(request, 'webhook-signature') ?? '').split(' ');
  if (id === '' || !WHOLE_SECONDS.test(timestamp)) return false;
  if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  return secrets.some((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(request.body);
    const expected = `v1,${signed.digest('base64')}`;
    return given.some((signature) => isSame(signature, expected));
  });
}

function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(sha256(given), sha256(expected));
}

export function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
