import { diskFull, EmbeddedError, permissionDenied } from '../machine/errors.js';

/** Explains Valkey's messages to the person who started it. */
export function explainValkey(
  lines: string[],
  where: { folder: string; port: number },
): EmbeddedError {
  const text = lines.join('\n');
  const cause = { cause: new Error(lines.slice(-20).join('\n')) };
  if (/Address already in use|Failed listening on port/.test(text)) {
    const say = `Port ${String(where.port)} of 127.0.0.1 is taken: stop what listens there, or choose another port.`;
    return new EmbeddedError('port_taken', say, cause);
  }
  if (/No space left on device/.test(text)) {
    return new EmbeddedError('disk_full', diskFull(where.folder), cause);
  }
  if (/Permission denied/.test(text)) {
    return new EmbeddedError('permission_denied', permissionDenied(where.folder), cause);
  }
  return new EmbeddedError(
    'server_failed',
    `Valkey did not start in ${where.folder} (it said: ${lines.at(-1)?.trim() ?? 'nothing'}): correct that, or set VALKEY_URL to a server of your own.`,
    cause,
  );
}
