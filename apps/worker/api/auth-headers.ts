import type { Credentials } from '../config.js';

/** The header of a request made with this token or API key. */
export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** The headers of a request made with an API key or a user's token. */
export function keyHeaders(
  credentials: Extract<Credentials, { kind: 'key' }>,
): Record<string, string> {
  const { key, workspaceId } = credentials;
  return { ...bearer(key), ...(workspaceId && { 'x-workspace-id': workspaceId }) };
}
