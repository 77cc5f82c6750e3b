import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { mediaTypeOf } from '#lib/kernel';
import type { Cli } from './cli.js';
import { usageError } from './failure.js';

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
  if (paths === undefined || paths.length === 0) return undefined;
  const names = paths.map((path) => basename(path));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw usageError(`Two files have the name ${repeated}.`, 'Rename one of them.');
  }
  const files = await Promise.all(paths.map((path) => readFile(path)));
  const id = randomUUID();
  for (const [index, bytes] of files.entries()) {
    const name = names[index] ?? '';
    const type = mediaTypeOf(name, !bytes.includes(0));
    await cli.drover.saveAttachment(id, { name, content: new Uint8Array(bytes), type });
  }
  return id;
}
