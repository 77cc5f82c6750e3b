/** An agent and its workspace. */
export interface AgentPlace {
  workspaceId: string;
  agentId: string;
}

/** Names an agent among those of all workspaces: its id is unique in its workspace only. */
export function agentKey({ workspaceId, agentId }: AgentPlace): string {
  return `${workspaceId}:${agentId}`;
}
