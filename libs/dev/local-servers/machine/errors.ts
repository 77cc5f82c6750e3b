import { isOutOfQuota } from '#lib/kernel';

export type EmbeddedErrorCode =
  | 'binaries_missing'
  | 'bubblewrap_missing'
  | 'data_folder_foreign'
  | 'data_folder_in_use'
  | 'data_folder_unreachable'
  | 'data_version'
  | 'disk_full'
  | 'lock_timeout'
  | 'permission_denied'
  | 'port_taken'
  | 'server_failed'
  | 'stopped'
  | 'valkey_missing';

/** A failure of the local servers. `message` is one sentence: the mistake and the remedy. */
export class EmbeddedError extends Error {
  constructor(
    readonly code: EmbeddedErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'EmbeddedError';
  }
}

/** The `code` of a Node system error (`ENOENT`…), or undefined. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Turns a file system error on `path` into a sentence. Returns other errors unchanged. */
export function explainFileError(error: unknown, path: string): unknown {
  const cause = { cause: error };
  if (isOutOfQuota(error)) return new EmbeddedError('disk_full', diskFull(path), cause);
  switch (errnoOf(error)) {
    case 'ENOSPC':
      return new EmbeddedError('disk_full', diskFull(path), cause);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new EmbeddedError('permission_denied', permissionDenied(path), cause);
    default:
      return error;
  }
}

export function diskFull(path: string): string {
  return `The disk that holds ${path} is full: free some space there, or choose a data folder on another disk.`;
}

export function permissionDenied(path: string): string {
  return `Permission denied for ${path}: run as the user who owns it, or choose another data folder.`;
}

export function stoppedWhileStarting(): EmbeddedError {
  return new EmbeddedError('stopped', 'The embedded servers were stopped while starting.');
}
