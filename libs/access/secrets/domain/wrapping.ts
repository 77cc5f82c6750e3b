import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { decrypt, encrypt, KEY_BYTES } from './cipher.js';
import type { DataKey } from './sealed-text.js';

/** A key from the environment. It encrypts only data keys. */
export interface MasterKey {
  id: string;
  key: KeyObject;
}

/** A data key as it is stored. */
export interface WrappedKey {
  id: string;
  masterKeyId: string;
  wrapped: Buffer;
}

/** A new data key with its stored form. */
export function makeDataKey(id: string, master: MasterKey): { key: DataKey; stored: WrappedKey } {
  const bytes = randomBytes(KEY_BYTES);
  const wrapped = encrypt(master.key, bytes, contextOf(id, master.id));
  const key = { id, key: createSecretKey(bytes) };
  bytes.fill(0);
  return { key, stored: { id, masterKeyId: master.id, wrapped } };
}

/**
 * @returns undefined if none of the master keys opens it
 */
export function unwrap(stored: WrappedKey, masters: readonly MasterKey[]): DataKey | undefined {
  const master = masters.find(({ id }) => id === stored.masterKeyId);
  const bytes = master && decrypt(master.key, stored.wrapped, contextOf(stored.id, master.id));
  return bytes && { id: stored.id, key: createSecretKey(bytes) };
}

function contextOf(dataKeyId: string, masterKeyId: string): string {
  return JSON.stringify(['drover-data-key:1', dataKeyId, masterKeyId]);
}
