import { DroverError, type ErrorCode } from '#lib/kernel';

/** Why a conditional update changed nothing: the row is missing or has another version. */
export function whyUnchanged(current: { version: number } | null, missing: ErrorCode): DroverError {
  return current === null ? new DroverError(missing) : versionMismatch(current);
}

export function versionMismatch({ version }: { version: number }): DroverError {
  return new DroverError('version_mismatch', { members: { currentVersion: version } });
}
