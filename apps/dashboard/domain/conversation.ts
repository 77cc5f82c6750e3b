import type { LogLine } from './log-line.js';

/** A part of the conversation with a coding agent. */
export type Part =
  | { kind: 'agent' | 'person' | 'note' | 'plan' | 'thought' | 'usage'; line: LogLine }
  /** A call of a tool with its results and changes of files. */
  | { kind: 'tool'; line: LogLine; results: LogLine[] };

const KINDS: Record<string, Exclude<Part['kind'], 'tool'>> = {
  agent_message: 'agent',
  agent_thought: 'thought',
  agent_plan: 'plan',
  agent_permission: 'note',
  agent_notice: 'note',
  message_delivered: 'person',
  model_usage: 'usage',
};

/** The entries of the log that belong to the conversation, in their order. */
export function toConversation(lines: readonly LogLine[]): Part[] {
  const parts: Part[] = [];
  let tool: Extract<Part, { kind: 'tool' }> | undefined;
  for (const line of lines) {
    if (line.event === 'agent_tool') {
      tool = { kind: 'tool', line, results: [] };
      parts.push(tool);
    } else if (line.event === 'agent_tool_result' || line.event === 'agent_diff') {
      tool?.results.push(line);
    } else {
      const kind = KINDS[line.event];
      if (kind !== undefined) parts.push({ kind, line });
    }
  }
  return parts;
}
