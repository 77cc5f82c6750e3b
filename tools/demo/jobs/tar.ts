const BLOCK = 512;
export const END_OF_ARCHIVE = Buffer.alloc(2 * BLOCK);

/**
 * Returns one file in the POSIX format (ustar) with the time 0, so that equal files have equal
 * archives.
 */
export function tarEntry(path: string, content: Buffer, mode: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const { prefix, name } = splitPath(path);
  header.write(name, 0);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(content.length, 11), 124);
  header.write(octal(0, 11), 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}

export interface TarFile {
  path: string;
  content: Buffer;
}

/**
 * @throws Error if a header's checksum does not match its bytes
 */
export function* readTar(tar: Buffer): Generator<TarFile> {
  for (let at = 0; at + BLOCK <= tar.length;) {
    const header = Buffer.from(tar.subarray(at, at + BLOCK));
    if (header.every((byte) => byte === 0)) return;
    const text = (from: number, length: number): string =>
      header.toString('utf8', from, from + length).replace(/\0.*/s, '');
    const stored = parseInt(text(148, 8), 8);
    header.fill(' ', 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    if (sum !== stored) throw new Error(`the header at byte ${at} is damaged`);
    const size = parseInt(text(124, 12), 8);
    const prefix = text(345, 155);
    const path = prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
    yield { path, content: tar.subarray(at + BLOCK, at + BLOCK + size) };
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** A long path is divided at a slash: at most 155 bytes before it, 100 after. */
function splitPath(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { prefix, name };
  }
  throw new Error(`${path} is too long for a tar archive`);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
