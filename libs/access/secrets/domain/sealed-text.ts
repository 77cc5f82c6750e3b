import type { KeyObject } from 'node:crypto';
import { decrypt, encrypt } from './cipher.js';

/** A key that seals values. Each value carries its id. */
export interface DataKey {
  id: string;
  key: KeyObject;
}

/** The place of a sealed value. It does not open anywhere else. */
export interface Place {
  workspaceId: string;
  table: string;
  column: string;
  rowId: string;
}

/** The parts of a sealed value. */
interface SealedParts {
  keyId: string;
  payload: string;
  /** Its redacted form. */
  shown: string;
}

/**
 * `drover-sealed:1:<key id>:<payload>:<shown>`. A text, so that it can replace the secret anywhere
 * in a JSON document.
 */
const PREFIX = 'drover-sealed:1:';
const FORM = /^drover-sealed:1:([\w-]{1,64}):([\w-]+):([^]*)$/;

/** The redacted form of a value that is a secret as a whole. */
const HIDDEN = '[redacted]';

/**
 * Whether a stored value is sealed. An outside value that looks sealed must be sealed itself, so
 * that stored values are unambiguous.
 */
export function isSealed(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(PREFIX);
}

/** The id of the key that opens it. Undefined if it is damaged. */
export function keyIdOf(sealed: string): string | undefined {
  return partsOf(sealed)?.keyId;
}

/** The redacted form of a sealed value. */
export function shownOf(sealed: string): string {
  return partsOf(sealed)?.shown ?? HIDDEN;
}

/**
 * Seals a JSON value.
 *
 * @param shown the public text in its place; it stays readable and cannot be altered unnoticed
 */
export function sealValue(key: DataKey, value: unknown, place: Place, shown: string): string {
  const plain = Buffer.from(JSON.stringify(value), 'utf8');
  const payload = encrypt(key.key, plain, contextOf(key.id, place, shown));
  return `${PREFIX}${key.id}:${payload.toString('base64url')}:${shown}`;
}

/**
 * @returns undefined if it was altered, or does not belong to that key or place
 */
export function openValue(
  key: DataKey,
  sealed: string,
  place: Place,
): { value: unknown } | undefined {
  const parts = partsOf(sealed);
  if (!parts) return undefined;
  const payload = Buffer.from(parts.payload, 'base64url');
  const plain = decrypt(key.key, payload, contextOf(parts.keyId, place, parts.shown));
  return plain && { value: JSON.parse(plain.toString('utf8')) as unknown };
}

function partsOf(sealed: string): SealedParts | undefined {
  const [, keyId, payload, shown] = FORM.exec(sealed) ?? [];
  if (keyId === undefined || payload === undefined || shown === undefined) return undefined;
  return { keyId, payload, shown };
}

// A JSON array, because joined parts could give two contexts the same text.
function contextOf(keyId: string, place: Place, shown: string): string {
  const { workspaceId, table, column, rowId } = place;
  return JSON.stringify(['drover-sealed:1', keyId, workspaceId, table, column, rowId, shown]);
}
