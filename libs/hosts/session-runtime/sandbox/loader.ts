import { closeSync, openSync, readSync } from 'node:fs';
import { release } from 'node:os';

/** Entry of an ELF file that names the program which loads it and its libraries. */
const INTERPRETER = 3;
const ENTRY_BYTES = 56;

/** Before this version a process that nobody can trace cannot list its own descriptors. */
const MINIMUM = [5, 14] as const;

/** The loader of this Node. It does not change while the process lives. */
let found: { path: string | undefined } | undefined;

/**
 * The program that loads this Node, such as `/lib64/ld-linux-x86-64.so.2`. If a process starts from
 * a file that its user can execute but not read, nobody can trace it or read its memory and
 * descriptors. A copy of the loader is such a file and small; a copy of Node has 100 MB.
 *
 * @returns undefined if Node has no loader, or the kernel is too old
 */
export function findLoader(): string | undefined {
  found ??= { path: isNewEnough(release()) ? interpreterOf(process.execPath) : undefined };
  return found.path;
}

/** The loader that a 64-bit ELF file names. */
export function interpreterOf(file: string): string | undefined {
  const read = (position: number, bytes: number): Buffer => {
    const buffer = Buffer.alloc(bytes);
    readSync(fd, buffer, 0, bytes, position);
    return buffer;
  };
  const fd = openSync(file, 'r');
  try {
    const header = read(0, 64);
    if (header.readUInt32BE(0) !== 0x7f_45_4c_46 || header.readUInt8(4) !== 2) return undefined;
    const start = Number(header.readBigUInt64LE(32));
    for (let index = 0; index < header.readUInt16LE(56); index += 1) {
      const entry = read(start + index * ENTRY_BYTES, ENTRY_BYTES);
      if (entry.readUInt32LE(0) !== INTERPRETER) continue;
      const text = read(Number(entry.readBigUInt64LE(8)), Number(entry.readBigUInt64LE(32)));
      return text.subarray(0, text.indexOf(0)).toString('utf8');
    }
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** @param kernel as `uname -r` prints it */
export function isNewEnough(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => parseInt(part, 10));
  return major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1]);
}
