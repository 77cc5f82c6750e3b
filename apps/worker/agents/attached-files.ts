import { join } from 'node:path/posix';
import type { LimitFunction } from 'p-limit';
import { type JsonObject, type Log, messageOf, retrying } from '#lib/agent-host';
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
  { api, folder, limit, log }: AttachedFilesParts,
): Promise<AttachedFiles | undefined> {
  if (id === undefined || id === null) return undefined;
  if (!isUuid(id)) throw new SpawnError('setup', 'inputContext.attachments must be a UUID');
  const signal = AbortSignal.timeout(FETCH_MS);
  const fetch = () => limit(() => api.attachments(id, MAX_BYTES, signal));
  const found = await retrying('attachments', fetch, { log, signal }).catch((error: unknown) => {
    throw new SpawnError('infrastructure', `No attachments can be read: ${messageOf(error)}`);
  });
  if (found === 'too large') {
    throw new SpawnError('setup', `The attachments have more than ${MAX_BYTES} bytes together`);
  }
  const pathOf = ({ name }: AttachedFile) => join(folder, FOLDER, name);
  const images = found.filter(isImage).slice(0, MAX_IMAGES);
  const lines = found.map((file) => `- ${JSON.stringify(pathOf(file))} (${file.mediaType})`);
  return {
    names: found.map(({ name }) => name),
    files: found.map(({ name, content }) => ({ name: `${FOLDER}/${name}`, content })),
    images: images.map((file) => ({ ...file, path: pathOf(file) })),
    words: lines.length === 0 ? '' : `\n\n## Attached files\n\n${lines.join('\n')}\n`,
  };
}

function isImage({ mediaType, content }: AttachedFile): boolean {
  return IMAGE.test(mediaType) && content.length > 0 && content.length <= MAX_IMAGE_BYTES;
}
