import { join } from 'node:path/posix';
import type { LimitFunction } from 'p-limit';
import { type JsonObject, type Log, messageOf, retrying } from '#lib/agent-host';
import type { AgentWords } from '#lib/agent-sessions';
import { isUuid } from '#lib/kernel';
import { type AddedFile, SpawnError } from '#lib/session-runtime';
import type { DroverApi } from '../api/drover-api.js';
import type { AttachedFile } from '../api/types.js';

/** The folder of attached files, beside the working folder, whose files are kept. */
const FOLDER = 'attachments';
/** In ms. */
const FETCH_MS = 120_000;
/** The maximum of all files of a task in bytes: the worker holds them in memory. */
const MAX_BYTES = 100 * 1_048_576;
/** Providers take these pictures. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const MAX_IMAGE_BYTES = 5 * 1_048_576;
const MAX_IMAGES = 20;

/** Files that people attached to the task of a session, or to messages. */
export interface AttachedFiles {
  names: readonly string[];
  files: readonly AddedFile[];
  images: NonNullable<AgentWords['images']>;
  /** Their paths, a line each. */
  list: string;
}

export interface AttachedFilesParts {
  api: Pick<DroverApi, 'attachments'>;
  /** The folder of the session, as it sees it. */
  folder: string;
  limit: LimitFunction;
  log: Log;
}

/** Gets the reason for files that the agent does not get. */
type Warn = (text: string) => void;

/**
 * Fetches the files that `inputContext.attachments` names.
 *
 * @returns undefined if the task names none
 * @throws SpawnError
 */
export async function attachedFiles(
  { attachments: id }: JsonObject,
  parts: AttachedFilesParts,
): Promise<AttachedFiles | undefined> {
  if (id === undefined || id === null) return undefined;
  return toAttached(await fetched(id, parts), join(parts.folder, FOLDER));
}

/** Fetches the files of messages to earlier runs, the latest first. Nothing is thrown. */
export async function filesOfMessages(
  ids: readonly string[],
  { warn, ...parts }: AttachedFilesParts & { warn: Warn },
): Promise<AttachedFiles[]> {
  const all: AttachedFiles[] = [];
  let room = MAX_BYTES;
  for (const id of ids) {
    try {
      const found = await fetched(id, parts, room);
      room -= found.reduce((sum, { content }) => sum + content.length, 0);
      if (found.length > 0) all.push(ofMessage(id, found, parts.folder));
    } catch (error) {
      warn(`The agent does not get the files of an earlier message: ${messageOf(error)}`);
    }
  }
  return all;
}

/** Adds the files of a message to a session that runs. Nothing is thrown. */
export async function addFilesOfMessage(
  id: unknown,
  {
    add,
    warn,
    ...parts
  }: AttachedFilesParts & { add: (files: readonly AddedFile[]) => Promise<void>; warn: Warn },
): Promise<Pick<AttachedFiles, 'list' | 'images'>> {
  try {
    const attached = ofMessage(id, await fetched(id, parts), parts.folder);
    await add(attached.files);
    return attached;
  } catch (error) {
    warn(`The agent does not get the files of a message: ${messageOf(error)}`);
    return { list: '', images: [] };
  }
}

/** The files of each message have a folder of their own, which is the same in later runs. */
function ofMessage(id: unknown, found: readonly AttachedFile[], folder: string): AttachedFiles {
  return toAttached(found, join(folder, FOLDER, String(id)), `${FOLDER}/${String(id)}`);
}

function toAttached(found: readonly AttachedFile[], folder: string, name = FOLDER): AttachedFiles {
  const pathOf = (file: AttachedFile) => join(folder, file.name);
  const images = found.filter(isImage).slice(0, MAX_IMAGES);
  return {
    names: found.map((file) => file.name),
    files: found.map((file) => ({ name: `${name}/${file.name}`, content: file.content })),
    images: images.map((file) => ({ ...file, path: pathOf(file) })),
    list: found.map((file) => `- ${JSON.stringify(pathOf(file))} (${file.mediaType})`).join('\n'),
  };
}

/** @throws SpawnError */
async function fetched(
  id: unknown,
  { api, limit, log }: Omit<AttachedFilesParts, 'folder'>,
  maxBytes = MAX_BYTES,
): Promise<AttachedFile[]> {
  if (!isUuid(id)) throw new SpawnError('setup', 'The id of attachments must be a UUID');
  const signal = AbortSignal.timeout(FETCH_MS);
  const fetch = () => limit(() => api.attachments(id, maxBytes, signal));
  const found = await retrying('attachments', fetch, { log, signal }).catch((error: unknown) => {
    throw new SpawnError('infrastructure', `No attachments can be read: ${messageOf(error)}`);
  });
  if (found !== 'too large') return found;
  throw new SpawnError('setup', `The attachments have more than ${maxBytes} bytes together`);
}

function isImage({ mediaType, content }: AttachedFile): boolean {
  return IMAGE.test(mediaType) && content.length > 0 && content.length <= MAX_IMAGE_BYTES;
}
