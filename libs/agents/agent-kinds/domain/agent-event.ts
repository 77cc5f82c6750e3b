/** One step of a plan that an agent follows. */
export interface PlanEntry {
  text: string;
  status: 'pending' | 'in_progress' | 'completed';
}

/** The change of one file, as far as the agent tells it. */
export interface FileDiff {
  path: string;
  /** A unified diff of this file. */
  diff: string;
}

/** The class of a tool, the same for all kinds. `read` changes nothing. */
export type ToolCategory = 'shell' | 'edit' | 'read' | 'other';

/** A tool that an agent asks to use. */
export interface PermissionRequest {
  id: string;
  /** The kind's own name of the tool. */
  tool: string;
  category: ToolCategory;
  title: string;
  /**
   * The command, or the paths of the files: relative ones for files in the work folder. For other
   * tools, the title. It is never empty.
   */
  subjects: string[];
  /** True if the agent does not tell the class of the tool. `category` is `other` then. */
  isUnknown?: boolean;
  input: unknown;
  /** The changes that the tool would make, as far as they are known. */
  diffs?: FileDiff[];
}

/**
 * Something that an agent said or did. An unknown line of an agent makes no event. No event has a
 * number of tokens: the model proxy counts them.
 */
export type AgentEvent =
  /** The conversation exists. Its `id` is the one to resume. It can come again with the same id. */
  | { type: 'session'; id: string; model?: string }
  /**
   * Words of the agent. Pieces have `delta: true`. The whole message follows its pieces with `delta:
   * false`; it is the only one from an agent that sends no pieces.
   */
  | { type: 'message'; text: string; delta: boolean }
  /** The agent's reasoning. Pieces and wholes are as those of a message. */
  | { type: 'thought'; text: string; delta: boolean }
  /** A tool starts. The same `id` can come again if its title or input becomes known later. */
  | { type: 'tool_call'; id: string; name: string; title: string; input: unknown }
  | { type: 'tool_result'; id: string; ok: boolean; output: string; diffs?: FileDiff[] }
  /** The whole plan. It replaces the one before. */
  | { type: 'plan'; entries: PlanEntry[] }
  /** The agent waits for `decide` with this `id`. */
  | ({ type: 'permission' } & PermissionRequest)
  /** The agent no longer waits for this decision, for instance after an interrupt. */
  | { type: 'permission_closed'; id: string }
  /** The program has received the words that `say` got with these ids. */
  | { type: 'heard'; ids: string[] }
  | { type: 'turn_ended'; outcome: 'completed' | 'interrupted' | 'failed' }
  | { type: 'notice'; level: 'info' | 'warning' | 'error'; text: string };
