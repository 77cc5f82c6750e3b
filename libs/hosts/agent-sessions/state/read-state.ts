import { join } from 'node:path';
import type { AgentKind } from '#lib/agent-kinds';
import { listFilesBelow, markFileBelow, readFileBelow } from '#lib/session-runtime';
import type { StateFile } from './agent-state.js';
import { testOf } from './globs.js';

const MIB = 1_048_576;
/** The maximum of the conversation's files, and of those of the working folder, in bytes. */
const MAX_BYTES = 50 * MIB;
const MAX_CONVERSATION_FILES = 1_000;
const MAX_WORK_FILES = 10_000;
/** The number of attempts to read files between two changes of them. */
const ATTEMPTS = 3;
/** Folders of the working folder that programs fill and can fill again. */
const MADE_AGAIN = new Set(['node_modules', '__pycache__', '.cache', '.npm']);
/** An id that is a part of globs and commands. */
const PLAIN_ID = /^[A-Za-z0-9][\w-]{0,199}$/;

/** The files of a conversation, at one moment. */
export interface ConversationFiles {
  files: StateFile[];
  /** The bytes of all. */
  size: number;
  /** Another text after each change. */
  mark: string;
}

/** The mark of a conversation without files. */
export const NO_FILES = markOf(new Map());

/** Reads the state of a coding agent in the folder of its session, which the session can change. */
export class StateReader {
  constructor(
    private readonly folder: string,
    private readonly kind: Pick<AgentKind, 'stateFiles'>,
  ) {}

  /** The mark of a conversation's files, without their contents. */
  async mark(conversation: string): Promise<string> {
    return markOf(await this.find(conversation));
  }

  /**
   * The files of a conversation. A line that is not whole yet is left out.
   *
   * @returns undefined while the program changes them faster than they can be read
   * @throws Error if they are too large
   */
  async conversation(conversation: string): Promise<ConversationFiles | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const marks = await this.find(conversation);
      const files = await this.readAll([...marks.keys()]);
      const mark = markOf(marks);
      if (markOf(await this.find(conversation)) !== mark) continue;
      const size = files.reduce((sum, { content }) => sum + content.length, 0);
      return { files: files.map(withWholeLines), size, mark };
    }
    return undefined;
  }

  /** The files of the working folder, up to their maximum, and the names of the others. */
  async work(): Promise<{ files: StateFile[]; lost: string[] }> {
    const work = join(this.folder, 'work');
    const search = { most: MAX_WORK_FILES, leaveOut: isMadeAgain };
    const { names, isCut } = await listFilesBelow(work, search);
    const files: StateFile[] = [];
    const lost = isCut ? [`files after the first ${MAX_WORK_FILES}`] : [];
    let left = MAX_BYTES;
    for (const name of names) {
      const file = await readFileBelow(work, name, left);
      if (file.kind === 'unusable') {
        lost.push(name);
        continue;
      }
      left -= file.bytes.length;
      files.push({ name: `work/${name}`, content: file.bytes, isExecutable: file.isExecutable });
    }
    return { files, lost };
  }

  private get state(): string {
    return join(this.folder, 'state');
  }

  private async find(conversation: string): Promise<Map<string, string>> {
    const marks = new Map<string, string>();
    if (!PLAIN_ID.test(conversation)) return marks;
    const globs = testOf(this.kind.stateFiles(conversation));
    const { names } = await listFilesBelow(this.state, {
      most: MAX_CONVERSATION_FILES,
      leaveOut: (name) => !globs.matches(name) && !globs.leadsOn(name),
    });
    for (const name of names.filter((each) => globs.matches(each))) {
      const mark = await markFileBelow(this.state, name);
      if (mark !== undefined) marks.set(name, mark);
    }
    return marks;
  }

  private async readAll(names: readonly string[]): Promise<StateFile[]> {
    const files: StateFile[] = [];
    let left = MAX_BYTES;
    for (const name of names) {
      const file = await readFileBelow(this.state, name, left);
      if (file.kind === 'unusable') {
        if (!file.why.startsWith('has more than')) continue;
        throw new Error(`The state of the agent has more than ${MAX_BYTES / MIB} MiB`);
      }
      left -= file.bytes.length;
      files.push({ name: `state/${name}`, content: file.bytes, isExecutable: file.isExecutable });
    }
    return files;
  }
}

/** Programs add whole lines, and one that is killed can leave half of one. */
function withWholeLines(file: StateFile): StateFile {
  if (!file.name.endsWith('.jsonl')) return file;
  return { ...file, content: file.content.subarray(0, file.content.lastIndexOf('\n') + 1) };
}

function markOf(marks: ReadonlyMap<string, string>): string {
  return JSON.stringify([...marks]);
}

function isMadeAgain(name: string): boolean {
  return MADE_AGAIN.has(name.split('/').at(-1) ?? '');
}
