import { DroverError, type ErrorCode } from '#lib/kernel';

/**
 * Why an update under a condition has changed nothing: the row is not there, or has another version.
 */
export function whyUnchanged(exists: boolean, missing: ErrorCode): DroverError {
  return new DroverError(exists ? 'version_mismatch' : missing);
}
