import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { mediaTypeOf } from '#lib/kernel';
import type { Cli } from './cli.js';
import { usageError } from './failure.js';

interface LocalFile {
  name: string;
  bytes: Buffer;
}

/**
 * Stores local files as the attachments of a task.
 *
 * @returns the id by which the task names them; undefined without files
 * @throws Failure if two files have one name
 */
export async function attachFiles(
  cli: Cli,
  paths: readonly string[] | undefined,
): Promise<string | undefined> {
  return storeFiles(cli, await readFiles(paths));
}

/** Reads files to attach. @throws Failure if two of them have one name */
export async function readFiles(paths: readonly string[] = []): Promise<LocalFile[]> {
  const names = paths.map((path) => basename(path));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw usageError(`Two files have the name ${repeated}.`, 'Rename one of them.');
  }
  return Promise.all(
    paths.map(async (path) => ({ name: basename(path), bytes: await readFile(path) })),
  );
}

/** Stores files that were read. @returns as `attachFiles` */
export async function storeFiles(
  cli: Cli,
  files: readonly LocalFile[],
): Promise<string | undefined> {
  if (files.length === 0) return undefined;
  const id = randomUUID();
  for (const { name, bytes } of files) {
    const type = mediaTypeOf(name, !bytes.includes(0));
    await cli.drover.saveAttachment(id, { name, content: new Uint8Array(bytes), type });
  }
  return id;
}
