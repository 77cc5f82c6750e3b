import type { FastifyRequest } from 'fastify';
import { DroverError, isUuid } from '#lib/kernel';

/**
 * The workspace that a request names, in its path (`/workspaces/:workspaceId/…`) or in the header
 * X-Workspace-Id. Undefined if it names none.
 *
 * @throws DroverError `validation_failed` or `malformed_header` for a value that is no UUID, and
 *   `workspace_not_found` if the two differ
 */
export function requestedWorkspace(request: FastifyRequest): string | undefined {
  const inHeader = fromHeader(request.headers['x-workspace-id']);
  const inPath = fromPath((request.params as { workspaceId?: string } | undefined)?.workspaceId);
  if (inPath !== undefined && inHeader !== undefined && inPath !== inHeader) {
    throw new DroverError('workspace_not_found', {
      detail: 'X-Workspace-Id names another workspace than the path.',
    });
  }
  return inPath ?? inHeader;
}

function fromHeader(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (isUuid(value)) return value.toLowerCase();
  throw new DroverError('malformed_header', { detail: 'X-Workspace-Id must be a UUID.' });
}

function fromPath(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (isUuid(value)) return value.toLowerCase();
  throw new DroverError('validation_failed', {
    errors: [{ field: 'workspaceId', message: 'must be a UUID' }],
  });
}
