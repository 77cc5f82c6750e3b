import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

interface MasterKey {
  id: string;
  key: KeyObject;
}

const [IV_BYTES, TAG_BYTES] = [12, 16];

/**
 * Seals the secret of a second factor with the current master key, bound to its user. The result
 * starts with the id of the key.
 */
export function sealFactor([master]: readonly MasterKey[], userId: string, secret: Buffer): string {
  if (master === undefined) throw new Error('There is no master key');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', master.key, iv).setAAD(contextOf(userId));
  const text = Buffer.concat([cipher.update(secret), cipher.final()]);
  const sealed = Buffer.concat([iv, cipher.getAuthTag(), text]);
  return `${master.id}:${sealed.toString('base64url')}`;
}

/** @returns undefined if the master key is gone, or the text is not of this user */
export function openFactor(
  masters: readonly MasterKey[],
  userId: string,
  sealed: string,
): Buffer | undefined {
  const [id, text = ''] = sealed.split(':');
  const key = masters.find((master) => master.id === id)?.key;
  if (key === undefined) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
    .setAAD(contextOf(userId))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    const rest = bytes.subarray(IV_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(rest), decipher.final()]);
  } catch {
    return undefined;
  }
}

function contextOf(userId: string): Buffer {
  return Buffer.from(`drover second factor of ${userId}`);
}
