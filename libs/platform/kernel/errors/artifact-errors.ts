import { e } from './error-entry.js';

/** The part of ERRORS about files of runs. */
export const ARTIFACT_ERRORS = {
  artifact_too_large: e(
    413,
    'The artifact is too large',
    'Send at most `limit` bytes. An operator can raise ARTIFACT_MAX_MB.',
  ),
  digest_mismatch: e(
    400,
    'The body does not match its digest',
    'Send the file again with the SHA-256 hash of its bytes.',
  ),
  artifact_not_found: e(404, 'The artifact does not exist', 'List the artifacts of the task.'),
  artifacts_disabled: e(
    409,
    'The installation keeps no artifacts',
    'Put the results into `outputResult`. An operator can set ARTIFACTS_DIR.',
  ),
  artifact_quota: e(
    409,
    'The artifacts of the workspace leave no room for this one',
    'Delete artifacts or wait until older ones expire. An operator can raise ARTIFACT_QUOTA_MB.',
  ),
  artifact_reserved: e(
    403,
    'Only the host of the run stores the diff of its change',
    'Choose another name. A host sends `change.diff` with the token of its agent.',
  ),
  artifact_limit: e(
    409,
    'The run has the maximum number of artifacts',
    'Put several files into one archive.',
  ),
  artifact_has_secret: e(
    422,
    'The artifact contains a secret',
    'Remove the secrets of the task and keys of known formats from the file, then send it again.',
  ),
} as const;
