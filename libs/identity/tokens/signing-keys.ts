import { createHash, createSecretKey, type KeyObject } from 'node:crypto';

export interface SigningKey {
  /** Names the key in a token's header: a hash of the secret, the same on every server. */
  id: string;
  key: KeyObject;
}

/** The secret that signs, and the earlier ones, which only verify. */
export class SigningKeys {
  readonly current: SigningKey;
  private readonly byId: ReadonlyMap<string, KeyObject>;

  constructor(secret: string, previousSecrets: readonly string[]) {
    this.current = signingKey(secret);
    const all = [this.current, ...previousSecrets.map(signingKey)];
    this.byId = new Map(all.map(({ id, key }) => [id, key]));
  }

  find(id: string | undefined): KeyObject | undefined {
    return id === undefined ? undefined : this.byId.get(id);
  }

  all(): KeyObject[] {
    return [...this.byId.values()];
  }
}

// As a KeyObject: jsonwebtoken turns a string into one at every verification, at 60 times the cost.
function signingKey(secret: string): SigningKey {
  const id = createHash('sha256')
    .update(`drover-key-id:${secret}`)
    .digest('base64url')
    .slice(0, 12);
  return { id, key: createSecretKey(Buffer.from(secret, 'utf8')) };
}
