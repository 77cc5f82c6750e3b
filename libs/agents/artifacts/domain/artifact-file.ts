import { DroverError } from '#lib/kernel';

/** The diff of a run's change, which reviewers read. Only the host of the run writes it. */
export const DIFF_OF_CHANGE = 'change.diff';

/** Maximum length of a name and of one part of it, in bytes. */
const MAX_NAME = 500;
const MAX_PART = 255;
/** Characters that no name needs: controls, marks that turn the direction of text, backslashes. */
const UNWANTED = /[\p{Cc}\u2028-\u202e\u2066-\u2069\\]/u;
const MEDIA_TYPE = /^[a-z0-9][\w.+-]{0,63}\/[a-z0-9][\w.+-]{0,63}(?:; ?charset=[\w-]{1,40})?$/i;
const DEFAULT_MEDIA_TYPE = 'application/octet-stream';
const SHA_256 = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):\s*(?:,|$)/;

/**
 * A name as it is stored: a relative path of ordinary parts, such as `report/index.html`.
 *
 * @throws DroverError `validation_failed`
 */
export function requireName(name: string): string {
  const message = problemOf(name);
  if (message === undefined) return name;
  throw new DroverError('validation_failed', { errors: [{ field: 'name', message }] });
}

/**
 * Refuses a name that sessions of runs cannot write.
 *
 * @throws DroverError `artifact_reserved`
 */
export function refuseReserved(name: string): void {
  if (name === DIFF_OF_CHANGE) throw new DroverError('artifact_reserved');
}

function problemOf(name: string): string | undefined {
  if (Buffer.byteLength(name) > MAX_NAME) return `must have at most ${MAX_NAME} bytes`;
  if (!name.isWellFormed() || UNWANTED.test(name)) {
    return 'must have no control characters and no backslashes';
  }
  const parts = name.split('/');
  if (parts.some((part) => ['', '.', '..'].includes(part))) {
    return 'must be a relative path without empty parts, `.` and `..`';
  }
  if (parts.some((part) => Buffer.byteLength(part) > MAX_PART)) {
    return `must have parts of at most ${MAX_PART} bytes`;
  }
  return undefined;
}

/**
 * The type as it is stored. Without one the file is bytes.
 *
 * @throws DroverError `malformed_header`
 */
export function requireMediaType(type: string = DEFAULT_MEDIA_TYPE): string {
  if (MEDIA_TYPE.test(type)) return type.toLowerCase();
  throw new DroverError('malformed_header', {
    detail: 'Content-Type must be a media type such as text/html; charset=utf-8.',
  });
}

/**
 * The SHA-256 hash of a Content-Digest header (RFC 9530), in hexadecimal digits.
 *
 * @throws DroverError `malformed_header`
 */
export function digestOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [, digest] = SHA_256.exec(header) ?? [];
  if (digest !== undefined) return Buffer.from(digest, 'base64').toString('hex');
  throw new DroverError('malformed_header', {
    detail: 'Content-Digest must hold sha-256=:…: with the hash of the body in base64.',
  });
}

/** A part of a file: its first and its last byte. */
export interface Part {
  start: number;
  end: number;
}

/**
 * The part that a Range header names. Undefined for the whole file: several parts, another unit or
 * a malformed header are ignored (RFC 9110). `none` for a part outside of the file.
 */
export function partOf(header: string | undefined, size: number): Part | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const start = Math.max(0, size - Number(last));
    return Number(last) === 0 || size === 0 ? 'none' : { start, end: size - 1 };
  }
  const [start, end] = [Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1)];
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'none' : { start, end };
}

/** The value of Content-Disposition with which browsers store the file under its last part. */
export function dispositionOf(name: string): string {
  const file = name.split('/').at(-1) ?? name;
  const plain = file.replaceAll(/[^\w. -]/g, '_');
  const encoded = encodeURIComponent(file).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
