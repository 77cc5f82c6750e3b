import { DroverError, type ErrorCode } from '#lib/kernel';

/** Why a conditional update changed nothing: the row is missing or has another version. */
export function whyUnchanged(exists: boolean, missing: ErrorCode): DroverError {
  return new DroverError(exists ? 'version_mismatch' : missing);
}
