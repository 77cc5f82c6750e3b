import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentContext, AgentEnd, AgentEvent, AgentExit } from '../index.js';

/** One line of a recorded session: to the program, or from one of its outputs. */
export type SampleLine = { in: string } | { out: string } | { err: string };

/** What the host did in a recorded session. */
export interface SampleActions {
  /** Decides each permission. */
  decision?: 'allow' | 'deny';
  /** Words that are said when the first tool starts. */
  say?: string;
  /** Interrupts when the first piece of a message arrives. */
  interrupts?: boolean;
}

/** A session that a real program had with a stand-in for its provider. */
export interface Sample {
  name: string;
  context: AgentContext;
  actions: SampleActions;
  lines: SampleLine[];
  exit: AgentExit;
  /** The outcomes of its turns, the number of its tools and its end, as they were checked by hand. */
  expected: { turns: string[]; tools: number; end: Omit<AgentEnd, 'message'> };
}

const FOLDER = join(import.meta.dirname, 'samples');

export function readSamples(kind: string): Sample[] {
  const folder = join(FOLDER, kind);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((file) => {
    const [head, ...lines] = readFileSync(join(folder, file), 'utf8').trimEnd().split('\n');
    return {
      name: file.replace(/\.jsonl$/, ''),
      ...(JSON.parse(head!) as Omit<Sample, 'name' | 'lines'>),
      lines: lines.map((line) => JSON.parse(line) as SampleLine),
    };
  });
}

/** The id of the words that are said. */
export const SAID = 'said';

/** Does what the host did after an event. */
export function act(
  event: AgentEvent,
  actions: SampleActions,
  conversation: {
    decide(id: string, decision: 'allow' | 'deny'): void;
    say(words: string, deliver: 'turn_end', id: string): void;
    interrupt(): void;
  },
  done: Set<string>,
): void {
  const once = (name: string) => !done.has(name) && done.add(name);
  if (event.type === 'permission' && actions.decision !== undefined) {
    conversation.decide(event.id, actions.decision);
  }
  if (event.type === 'tool_call' && actions.say !== undefined && once('say')) {
    conversation.say(actions.say, 'turn_end', SAID);
  }
  if (event.type === 'message' && actions.interrupts === true && once('interrupt')) {
    conversation.interrupt();
  }
}
