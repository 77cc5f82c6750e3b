import { join } from 'node:path/posix';
import type { LimitFunction } from 'p-limit';
import { type JsonObject, type Log, messageOf, retrying } from '#lib/agent-host';
import type { AgentImage } from '#lib/agent-kinds';
import type { AgentWork } from '#lib/agent-sessions';
import { isUuid } from '#lib/kernel';
import { SpawnError } from '#lib/session-runtime';
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

/** The files that people attached to the task of a session. */
export interface AttachedFiles {
  names: readonly string[];
  files: NonNullable<AgentWork['takenOver']>;
  images: NonNullable<AgentWork['images']>;
  /** Names them to the agent. It is empty without files. */
  words: string;
}

export interface AttachedFilesParts {
  api: Pick<DroverApi, 'attachments'>;
  /** The folder of the session, as it sees it. */
  folder: string;
  limit: LimitFunction;
  log: Log;
}

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
  const found = await fetched(id, parts);
  const pathOf = ({ name }: AttachedFile) => join(parts.folder, FOLDER, name);
  const images = found.filter(isImage).slice(0, MAX_IMAGES);
  const lines = found.map((file) => `- ${JSON.stringify(pathOf(file))} (${file.mediaType})`);
  return {
    names: found.map(({ name }) => name),
    files: found.map(({ name, content }) => ({ name: `${FOLDER}/${name}`, content })),
    images: images.map((file) => ({ ...file, path: pathOf(file) })),
    words: lines.length === 0 ? '' : `\n\n## Attached files\n\n${lines.join('\n')}\n`,
  };
}

/**
 * Fetches the pictures of a message. A session that runs gets no further files.
 *
 * @param warn gets the reason for each file that the agent does not get. Nothing is thrown
 */
export async function attachedPictures(
  id: unknown,
  parts: Omit<AttachedFilesParts, 'folder'> & { warn: (text: string) => void },
): Promise<AgentImage[]> {
  try {
    const found = await fetched(id, parts);
    const images = found.filter(isImage).slice(0, MAX_IMAGES);
    const others = found.filter((file) => !images.includes(file)).map(({ name }) => name);
    if (others.length > 0) {
      parts.warn(`A message carries pictures only. The agent does not get ${others.join(', ')}`);
    }
    return images.map(({ mediaType, content }) => ({ mediaType, content }));
  } catch (error) {
    parts.warn(`The agent does not get the pictures of a message: ${messageOf(error)}`);
    return [];
  }
}

/** @throws SpawnError */
async function fetched(
  id: unknown,
  { api, limit, log }: Omit<AttachedFilesParts, 'folder'>,
): Promise<AttachedFile[]> {
  if (!isUuid(id)) throw new SpawnError('setup', 'The id of attachments must be a UUID');
  const signal = AbortSignal.timeout(FETCH_MS);
  const fetch = () => limit(() => api.attachments(id, MAX_BYTES, signal));
  const found = await retrying('attachments', fetch, { log, signal }).catch((error: unknown) => {
    throw new SpawnError('infrastructure', `No attachments can be read: ${messageOf(error)}`);
  });
  if (found !== 'too large') return found;
  throw new SpawnError('setup', `The attachments have more than ${MAX_BYTES} bytes together`);
}

function isImage({ mediaType, content }: AttachedFile): boolean {
  return IMAGE.test(mediaType) && content.length > 0 && content.length <= MAX_IMAGE_BYTES;
}
