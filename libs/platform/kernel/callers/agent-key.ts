/** An agent and its workspace. */
export interface AgentPlace {
  workspaceId: string;
  agentId: string;
}

/** Identifies an agent among all workspaces. Its id is unique only in its workspace. */
export function agentKey({ workspaceId, agentId }: AgentPlace): string {
  return `${workspaceId}:${agentId}`;
}
