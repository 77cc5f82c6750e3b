import type { AgentKind } from '#lib/agent-kinds';
import type { SessionFile } from '#lib/session-runtime';
import type { AgentState } from './agent-state.js';
import { testOf } from './globs.js';

const STATE = 'state/';

/** The part of an earlier state with which a session begins. */
export interface TakenOver {
  /** The conversation to resume. Undefined: a new one begins, for the reason `why`. */
  resume?: string;
  why?: string;
  /** Files of the session's folder. */
  files: SessionFile[];
}

/**
 * Decides what a session takes over from an earlier one: its conversation if the kind can resume it
 * here, and the files of its working folder in any case.
 *
 * @param workDir the path of the working folder, as the session will see it
 */
export function takeOver(state: AgentState, kind: AgentKind, workDir: string): TakenOver {
  const work = state.files.filter(({ name }) => name.startsWith('work/'));
  const own = filesOfConversation(state, kind);
  const why = whyNotResumed(state, kind, { workDir, files: own.length });
  if (why !== undefined) return { why, files: work };
  return { resume: state.conversation ?? undefined, files: [...work, ...own] };
}

/** Only files of the conversation: a session wrote the state, and no other file can come from it. */
function filesOfConversation({ files, conversation }: AgentState, kind: AgentKind) {
  if (conversation === null) return [];
  const globs = testOf(kind.stateFiles(conversation));
  const isOwn = (name: string) => name.startsWith(STATE) && globs.matches(name.slice(STATE.length));
  return files
    .filter(({ name }) => isOwn(name))
    .map(({ name, ...file }) => {
      const own = name.slice(STATE.length);
      return { ...file, name: `${STATE}${kind.resumedName?.(own) ?? own}` };
    });
}

function whyNotResumed(
  state: AgentState,
  kind: AgentKind,
  here: { workDir: string; files: number },
): string | undefined {
  if (state.kind !== kind.name) return `The earlier agent was ${state.kind}`;
  if (state.conversation === null) return state.why ?? 'The earlier conversation had not begun';
  if (here.files === 0) return 'The earlier conversation left no files';
  if (!kind.needsSameWorkDir || state.workDir === here.workDir) return undefined;
  return `${kind.title} resumes only at the same path, which a sandbox keeps`;
}
