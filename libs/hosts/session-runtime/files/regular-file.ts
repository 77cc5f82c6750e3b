import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';

export type RegularFile =
  | { kind: 'absent' }
  | { kind: 'text'; text: string }
  | { kind: 'unusable'; why: string };

/**
 * The processes of a session can replace the file by anything. Links are not followed, and nobody
 * waits for a pipe without a writer.
 */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const IRREGULAR: RegularFile = { kind: 'unusable', why: 'is no regular file' };

/**
 * Reads a UTF-8 file that a session can replace or still writes. Never rejects.
 *
 * @param maxBytes the maximum of bytes to read, whatever size the file system reports
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<RegularFile> {
  try {
    const file = await open(path, FLAGS);
    try {
      if (!(await file.stat()).isFile()) return IRREGULAR;
      const bytes = Buffer.allocUnsafe(maxBytes + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length <= maxBytes; length += read) {
        ({ bytesRead: read } = await file.read(bytes, length));
      }
      return toText(bytes, length);
    } finally {
      await file.close();
    }
  } catch (error) {
    return explain(error);
  }
}

/** The same without a wait, for small files. */
export function readRegularFileSync(path: string, maxBytes: number): RegularFile {
  try {
    const file = openSync(path, FLAGS);
    try {
      if (!fstatSync(file).isFile()) return IRREGULAR;
      const bytes = Buffer.allocUnsafe(maxBytes + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length <= maxBytes; length += read) {
        read = readSync(file, bytes, length, bytes.length - length, null);
      }
      return toText(bytes, length);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return explain(error);
  }
}

function toText(bytes: Buffer, length: number): RegularFile {
  const maxBytes = bytes.length - 1;
  if (length > maxBytes) return { kind: 'unusable', why: `has more than ${maxBytes} bytes` };
  return { kind: 'text', text: bytes.toString('utf8', 0, length) };
}

function explain(error: unknown): RegularFile {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return { kind: 'absent' };
    case 'ELOOP':
      return { kind: 'unusable', why: 'is a symbolic link' };
    // A socket, or a device without a driver.
    case 'ENXIO':
      return IRREGULAR;
    default:
      return { kind: 'unusable', why: `is unreadable (${code ?? 'unknown error'})` };
  }
}
