import type { AgentKind } from '../domain/agent-kind.js';
import { acp } from './acp.js';
import { claudeCode } from './claude-code.js';
import { codex } from './codex.js';
import { geminiCli } from './gemini-cli.js';
import { opencode } from './opencode.js';
import { qwenCode } from './qwen-code.js';

/** All kinds. Their order is that of lists for people. */
export const KINDS: readonly AgentKind[] = [claudeCode, codex, geminiCli, opencode, qwenCode, acp];

export function kindOf(name: string): AgentKind | undefined {
  return KINDS.find((kind) => kind.name === name);
}
