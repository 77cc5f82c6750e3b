import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, constants, link, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { type components, type DroverClient, TRANSCRIPT_FOLDER } from '#lib/api-client';
import { Failure, reword, usageError } from './failure.js';

export type Artifact = components['schemas']['Artifact'];

/** Names that would reach another folder, a device or the hooks of a repository. */
const UNSAFE = /^$|^\.\.?$|^\.git$|[\p{Cc}\\:]/iu;

/** Lists the artifacts of a task: of each name the newest, in the order of the names. */
export async function latestArtifacts(drover: DroverClient, taskId: string): Promise<Artifact[]> {
  const latest = new Map<string, Artifact>();
  let cursor: string | undefined;
  do {
    const query = { limit: 200, ...(cursor !== undefined && { cursor }) };
    const params = { path: { id: taskId }, query };
    const page = await drover.get('/api/v1/agent-tasks/{id}/artifacts', { params });
    // The server lists the newest first.
    for (const one of page.items) if (!latest.has(one.name)) latest.set(one.name, one);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return [...latest.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The files that a run made, without those of its transcript. */
export function isFileOfWork({ name }: Pick<Artifact, 'name'>): boolean {
  return !name.startsWith(TRANSCRIPT_FOLDER);
}

export interface FetchOptions {
  /** The folder of the files. It is created if it is missing. */
  out: string;
  /** Replaces existing files. */
  force: boolean;
}

export interface Fetched {
  artifact: Artifact;
  path: string;
}

/**
 * Makes the folder of the files, before a task is paid for.
 *
 * @throws Failure if this user cannot write into it
 */
export async function prepareFolder(out: string): Promise<void> {
  try {
    await mkdir(out, { recursive: true });
    await access(out, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { message } = error as Error;
    throw usageError(`Files cannot be written to ${out}: ${message}.`, 'Choose another folder.');
  }
}

/** Files of the user stand where artifacts belong. */
export class FilesInTheWay extends Failure {}

/** Errors of a path that a file or a folder of the user blocks. */
const BLOCKED = ['EEXIST', 'ENOTDIR', 'EISDIR'];

/**
 * Downloads artifacts into a folder. All or none of a file is written. Existing files stay without
 * `force`, and the others are downloaded.
 *
 * @throws Failure for an unsafe name, before any download, or for an altered content; FilesInTheWay
 *   at the end; errors of the client, as a Failure that names the existing files met before, if any
 */
export async function* fetchArtifacts(
  drover: DroverClient,
  artifacts: readonly Artifact[],
  { out, force }: FetchOptions,
): AsyncGenerator<Fetched> {
  const taken: string[] = [];
  const blocked: string[] = [];
  // The names are checked first, so an unsafe one hides no existing file.
  const targets = artifacts.map((artifact) => ({
    artifact,
    path: join(resolve(out), ...safeParts(artifact.name)),
  }));
  for (const { artifact, path } of targets) {
    try {
      await fetchArtifact(path, drover, { artifact, force });
    } catch (error) {
      const { code = '', syscall } = error as NodeJS.ErrnoException;
      if (!BLOCKED.includes(code)) throw naming(error, describeFiles(taken, blocked));
      (syscall === 'link' ? taken : blocked).push(path);
      continue;
    }
    yield { artifact, path };
  }
  if (taken.length + blocked.length === 0) return;
  const advice = `Choose another folder${taken.length === 0 ? '' : ', or replace it with --force'}.`;
  throw new FilesInTheWay(describeFiles(taken, blocked), advice);
}

/** Downloads one artifact to its path. */
async function fetchArtifact(
  path: string,
  drover: DroverClient,
  { artifact, force }: { artifact: Artifact; force: boolean },
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = join(dirname(path), `.drover-${randomUUID()}`);
  try {
    await downloadTo(draft, drover, artifact);
    await (force ? rename(draft, path) : link(draft, path));
  } finally {
    await rm(draft, { force: true });
  }
}

function naming(error: unknown, files: string): unknown {
  return files === ''
    ? error
    : reword(error, ({ message }) => ({ message: `${message} ${files}` }));
}

function describeFiles(taken: readonly string[], blocked: readonly string[]): string {
  const exist = `${taken.join(', ')} ${taken.length === 1 ? 'exists' : 'exist'} already.`;
  const stand = `Files or folders stand in the way of ${blocked.join(', ')}.`;
  return [taken.length > 0 && exist, blocked.length > 0 && stand].filter(Boolean).join(' ');
}

async function downloadTo(draft: string, drover: DroverClient, artifact: Artifact): Promise<void> {
  const { id, sha256, name } = artifact;
  // The link of a long list can have expired.
  const fresh = await drover.get('/api/v1/artifacts/{id}', { params: { path: { id } } });
  const { body } = await drover.download(fresh);
  const hash = createHash('sha256');
  const content = body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream);
  await pipeline(
    content,
    async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(draft, { flags: 'wx' }),
  );
  if (hash.digest('hex') === sha256) return;
  throw new Failure(`The download of ${name} is not complete.`, 'Try again.');
}

/** Checks again, because the server may be another one than the author of the name expects. */
function safeParts(name: string): string[] {
  const parts = name.split('/');
  if (!parts.some((part) => UNSAFE.test(part))) return parts;
  throw new Failure(`The name ${JSON.stringify(name)} is not safe.`, 'Name the other artifacts.');
}
