import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Compares tokens in constant time. */
export class TokenCheck {
  private readonly digest: Buffer;

  constructor(token: string) {
    this.digest = digestOf(token);
  }

  /** Finds the token in the places of the providers' API keys. */
  isIn({ headers }: IncomingMessage, url: URL): boolean {
    const sent = [
      headers['x-api-key'],
      headers['x-goog-api-key'],
      /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1],
      url.searchParams.get('key'),
    ];
    return sent.some((each) => typeof each === 'string' && this.isToken(each));
  }

  private isToken(text: string): boolean {
    return timingSafeEqual(digestOf(text), this.digest);
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
