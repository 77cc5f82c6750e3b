import { e } from './error-entry.js';

/** The part of ERRORS about credentials that hosts of sessions use. */
export const CREDENTIAL_ERRORS = {
  model_provider_not_found: e(
    404,
    'The model provider does not exist',
    'List the model providers of the workspace, or set one by PUT /model-providers/:provider.',
  ),
  host_credential_not_found: e(
    404,
    'The credential for this host does not exist',
    'List the host credentials of the workspace, or set one by PUT /host-credentials/:host.',
  ),
  host_credential_limit: e(
    409,
    'The workspace has the maximum number of host credentials',
    'Remove one.',
  ),
} as const;
