import { createHash, createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { parse, stringify } from 'uuid';
import { CONFIG, type Config } from '#lib/config';
import { SigningKeys } from './signing-keys.js';

const PREFIX = 'drr_';
const FORM = /^drr_[\w-]{75}$/;
const ID_BYTES = 16;
const RANDOM_BYTES = 24;
const SEAL_BYTES = 16;

export interface RefreshToken {
  token: string;
  hash: Buffer;
}

/**
 * Opaque to everybody else: a session's id, 192 random bits and a seal. The seal distinguishes a
 * token that Drover issued, however old, from an invented one. An old token ends the session,
 * because somebody has a copy. An invented one must not, or anybody who knows a session's id could
 * end it.
 */
@Injectable()
export class RefreshTokens {
  private readonly keys: SigningKeys;

  constructor(@Inject(CONFIG) config: Pick<Config, 'identity'>) {
    this.keys = new SigningKeys(config.identity.jwtSecret, config.identity.jwtPreviousSecrets);
  }

  issue(sessionId: string): RefreshToken {
    const body = Buffer.concat([parse(sessionId), randomBytes(RANDOM_BYTES)]);
    const sealed = Buffer.concat([body, seal(this.keys.current.key, body)]);
    const token = PREFIX + sealed.toString('base64url');
    return { token, hash: hashOf(token) };
  }

  /** The session of the token. Undefined if Drover never issued it. */
  open(token: string): { sessionId: string; hash: Buffer } | undefined {
    if (!FORM.test(token)) return undefined;
    const bytes = Buffer.from(token.slice(PREFIX.length), 'base64url');
    const body = bytes.subarray(0, ID_BYTES + RANDOM_BYTES);
    const given = bytes.subarray(body.length);
    const genuine = this.keys.all().some((key) => timingSafeEqual(seal(key, body), given));
    if (!genuine) return undefined;
    return { sessionId: stringify(body.subarray(0, ID_BYTES)), hash: hashOf(token) };
  }
}

// The words in front prevent a seal from ever being the signature of a JWT.
function seal(key: KeyObject, body: Buffer): Buffer {
  const mac = createHmac('sha256', key).update('drover refresh token:').update(body).digest();
  return mac.subarray(0, SEAL_BYTES);
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
