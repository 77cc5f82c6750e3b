import type { Config } from '#lib/config';
import { DroverError } from '#lib/kernel';

/** An error for the person who starts the server: the mistake and the remedy. */
export class StartupError extends Error {}

/** The sentence for an error at the start. Undefined for an unexpected one. */
export function explainStartup(error: unknown, config: Config): string | undefined {
  if (error instanceof StartupError) return error.message;
  const code = codeOf(error);
  return listenSentence(code, config) ?? databaseSentence(code, error, config);
}

function listenSentence(code: string, { http }: Config): string | undefined {
  const place = `${http.host}:${http.port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `Another program listens on ${place}: stop it, or set PORT to a free one.`;
    case 'EACCES':
      return `This user cannot listen on ${place}: set PORT to a number above 1023.`;
    case 'EADDRNOTAVAIL':
      return `This machine has no address ${http.host}: correct HOST.`;
    default:
      return undefined;
  }
}

function databaseSentence(code: string, error: unknown, config: Config): string | undefined {
  const place = placeOf(config.database.appUrl);
  switch (code) {
    case '28P01':
    case '28000':
      return (
        `The database at ${place} refuses the sign-in: correct DATABASE_URL and ` +
        'DATABASE_SERVICE_URL, or run the migrations first, which create their roles.'
      );
    case '3D000':
      return `The database at ${place} does not exist: create it, or correct DATABASE_URL.`;
    case '53300':
      return (
        `The database at ${place} has no free connection: raise its max_connections, or lower ` +
        'DATABASE_MAX_CONNECTIONS.'
      );
    case '42P01':
      return (
        `The database at ${place} has no tables of Drover yet: start once with --migrate-only, or ` +
        'set MIGRATE_AT_START=true.'
      );
    default:
      return isUnreachable(error)
        ? `The database at ${place} cannot be reached (${code || 'no answer'}): start it, or ` +
            'correct DATABASE_URL.'
        : undefined;
  }
}

function isUnreachable(error: unknown): boolean {
  return (
    (error instanceof DroverError && error.code === 'database_unavailable') ||
    /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOENT|57P03)$/.test(
      codeOf(error),
    )
  );
}

/** The driver's own code, wherever the error carries it. */
function codeOf(error: unknown): string {
  const source = error instanceof DroverError ? error.extras.cause : error;
  const { code } = (source ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Host, port and name, never the password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
