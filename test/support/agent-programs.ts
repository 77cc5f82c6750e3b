import { join } from 'node:path';
import { type AgentKind, findKind, installKind } from '#lib/agent-kinds';

/** The folder of installed agents, for DROVER_AGENTS. */
export const AGENTS = join(import.meta.dirname, '../../.cache/agents');

/**
 * Returns the command of a real agent. At the first call it installs the agent's tested version
 * below `.cache`, in about 15 s.
 */
export async function agentProgram(kind: AgentKind): Promise<string[]> {
  await installKind(kind, AGENTS);
  const found = await findKind(kind, { searchPath: '', folders: [AGENTS] });
  if (!found.installed) throw new Error(found.missing);
  return found.command;
}
