import type { MemberRole, TokenCaller } from '#lib/kernel';
import type { CallerKind } from './access-plan.js';
import { covers, SCOPES, type Scope } from './scopes.js';

/**
 * The caller, as `GET /auth/me` shows it to the holder of the credentials. Fields that a kind does
 * not have are null.
 */
export interface CallerView {
  kind: CallerKind;
  workspaceId: string;
  role: MemberRole | null;
  /** All that the scopes of an API key include. */
  scopes: Scope[] | null;
  userId: string | null;
  apiKeyId: string | null;
  agentId: string | null;
  runId: string | null;
  taskId: string | null;
}

const NOTHING = {
  role: null,
  scopes: null,
  userId: null,
  apiKeyId: null,
  agentId: null,
  runId: null,
  taskId: null,
};

export function viewOfCaller(caller: TokenCaller): CallerView {
  const { kind, workspaceId } = caller;
  const nothing = { ...NOTHING, kind, workspaceId };
  switch (caller.kind) {
    case 'user':
      return { ...nothing, role: caller.role, userId: caller.userId };
    case 'api_key': {
      const { role, userId, apiKeyId } = caller;
      const scopes = SCOPES.filter((scope) => covers(caller.scopes, scope));
      return { ...nothing, role, userId, apiKeyId, scopes };
    }
    case 'agent':
      return { ...nothing, agentId: caller.agentId };
    case 'run': {
      const { agentId, runId, taskId } = caller;
      return { ...nothing, agentId, runId, taskId };
    }
  }
}
