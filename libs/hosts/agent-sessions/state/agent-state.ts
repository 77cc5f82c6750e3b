import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const MIB = 1_048_576;
/** The maximum of a state's files, in bytes: those of the program and of the working folder. */
export const MAX_STATE_BYTES = 100 * MIB;
const VERSION = 1;
/** The list of files and the rest of the head, in bytes. */
const MAX_HEAD = 8 * MIB;

/** A file of a session, by its path in the session's folder: below `state/` or `work/`. */
export interface StateFile {
  name: string;
  content: Buffer;
  isExecutable: boolean;
}

/** A point of a task's past: the first tool calls and messages of a run, and all of earlier runs. */
export interface CallsUpTo {
  runId: string;
  /** The number of tool calls. */
  calls: number;
  /** The number of messages of people. */
  messages?: number;
}

/** All that a later session of a coding agent needs to go on where an earlier one stopped. */
export interface AgentState {
  /** The task whose run kept it. */
  taskId: string;
  /** The name of the kind of agent. */
  kind: string;
  /** The id of the conversation. Null if it cannot be resumed, for the reason `why`. */
  conversation: string | null;
  why?: string;
  /** The path of the working folder, as the session saw it. */
  workDir: string;
  /** The tool calls, with their results, and the messages that the state surely has. */
  upTo?: CallsUpTo;
  files: StateFile[];
  /** Files of the working folder that are not in it. */
  lost: string[];
}

type Head = Omit<AgentState, 'files'> & {
  version: number;
  files: { name: string; size: number; isExecutable: boolean }[];
};

/** A head of one line of JSON, then the contents of the files. */
export async function packState({ files, ...rest }: AgentState): Promise<Uint8Array<ArrayBuffer>> {
  const listed = files.map(({ name, content, isExecutable }) => ({
    name,
    size: content.length,
    isExecutable,
  }));
  const head: Head = { version: VERSION, ...rest, files: listed };
  const parts = [Buffer.from(`${JSON.stringify(head)}\n`), ...files.map(({ content }) => content)];
  return new Uint8Array(await promisify(gzip)(Buffer.concat(parts), { level: 1 }));
}

/** @throws Error if it is cut, altered, or of another version */
export async function unpackState(packed: Uint8Array): Promise<AgentState> {
  const maxOutputLength = MAX_STATE_BYTES + MAX_HEAD;
  const bytes = await promisify(gunzip)(packed, { maxOutputLength });
  const end = bytes.indexOf('\n');
  const { version, files, ...rest } = JSON.parse(bytes.toString('utf8', 0, end)) as Head;
  if (version !== VERSION) throw new Error(`It has the form ${version}, not ${VERSION}`);
  let at = end + 1;
  const read = files.map(({ name, size, isExecutable }) => {
    requirePlace(name);
    const content = bytes.subarray(at, (at += size));
    return { name, content, isExecutable };
  });
  if (at !== bytes.length) throw new Error('It has another size than it says');
  return { ...rest, files: read };
}

/** A session wrote the files. No name can lead out of a new one's folder. */
function requirePlace(name: string): void {
  const [top, ...parts] = name.split('/');
  const isPlain = parts.length > 0 && parts.every((part) => !['', '.', '..'].includes(part));
  const isOwn = top === 'state' || top === 'work';
  if (!isOwn || !isPlain || name.includes('\0')) throw new Error(`It has the file ${name}`);
}
