import type { TokenService } from '#lib/identity';
import { apiClient, type ApiClient } from './api-client.js';
import type { TestDatabase } from './database.js';
import { aMember, anAgent, type AgentValues, aSessionOf, aWorkspace } from './factories.js';

/** A server under test with its database. */
export interface TestServer {
  url: string;
  db: TestDatabase;
  /** Issues tokens that the server accepts. */
  tokens: TokenService;
  /** Creates a workspace with a member who has signed in: its owner, if no role is named. */
  newWorkspace(role?: string): Promise<TestWorkspace>;
  stop(): Promise<void>;
}

export interface TestWorkspace {
  id: string;
  userId: string;
  /** Returns a client that acts as its owner. */
  api: ApiClient;
  newAgent(values?: AgentValues): Promise<TestAgent>;
}

export interface TestAgent {
  id: string;
  token: string;
  api: ApiClient;
}

type Place = Pick<TestServer, 'url' | 'db' | 'tokens'>;

export async function newWorkspaceAt(
  { url, db, tokens }: Place,
  role = 'OWNER',
): Promise<TestWorkspace> {
  const id = await aWorkspace(db.owner);
  const userId = await aMember(db.owner, id, role);
  const sessionId = await aSessionOf(db.owner, userId);
  const { token } = tokens.issueUserToken({ userId, sessionId, workspaceId: null });
  const newAgent = async (values: AgentValues = {}): Promise<TestAgent> => {
    const agentId = await anAgent(db.owner, id, values);
    const issued = tokens.issueAgentToken({ workspaceId: id, agentId, tokenVersion: 1 });
    return {
      id: agentId,
      token: issued.token,
      api: apiClient(url, { authorization: `Bearer ${issued.token}` }),
    };
  };
  const api = apiClient(url, { authorization: `Bearer ${token}`, 'x-workspace-id': id });
  return { id, userId, api, newAgent };
}
