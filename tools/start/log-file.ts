import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs';

const MOST_BYTES = 10 * 1024 * 1024;

/**
 * The lines of one program, in a file that only its owner can read. At 10 MiB the file becomes
 * `.old` and replaces the previous one.
 */
export function logTo(file: string): (line: string) => void {
  let bytes = existsSync(file) ? statSync(file).size : 0;
  return (line) => {
    if (bytes > MOST_BYTES) {
      renameSync(file, `${file}.old`);
      bytes = 0;
    }
    const text = `${line}\n`;
    bytes += Buffer.byteLength(text);
    try {
      appendFileSync(file, text, { mode: 0o600 });
    } catch {
      // A full disk must not end the logged program.
    }
  };
}
