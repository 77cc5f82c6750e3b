import { diskFull, EmbeddedError, permissionDenied } from '../machine/errors.js';

interface Where {
  folder: string;
  port?: number;
}

/** Explains PostgreSQL's messages to the person who started it. */
export function explainPostgres(lines: string[], where: Where): EmbeddedError {
  const text = lines.join('\n');
  const cause = { cause: new Error(lines.slice(-20).join('\n')) };
  const port = String(where.port);
  if (/lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(text)) {
    const pid = /PID (\d+)/.exec(text)?.[1] ?? 'unknown';
    const say = `The data folder ${where.folder} is in use by another PostgreSQL server (process ${pid}): stop that one, or choose another data folder.`;
    return new EmbeddedError('data_folder_in_use', say, cause);
  }
  if (/Address already in use|could not create any TCP\/IP sockets/.test(text)) {
    const say = `Port ${port} of 127.0.0.1 is taken: stop what listens there, or choose another port.`;
    return new EmbeddedError('port_taken', say, cause);
  }
  if (/No space left on device|Check free disk space|disk quota exceeded/i.test(text)) {
    return new EmbeddedError('disk_full', diskFull(where.folder), cause);
  }
  if (/Permission denied|Operation not permitted|Read-only file system/.test(text)) {
    return new EmbeddedError('permission_denied', permissionDenied(where.folder), cause);
  }
  if (/password authentication failed/.test(text)) {
    const say = `The password in ${where.folder}/password is not the one of the data beside it: put the right file back, or choose another data folder.`;
    return new EmbeddedError('data_folder_foreign', say, cause);
  }
  const last =
    lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1) ?? 'no output';
  return new EmbeddedError(
    'server_failed',
    `PostgreSQL did not start in ${where.folder} (it said: ${last.trim()}): correct that, or choose another data folder.`,
    cause,
  );
}
