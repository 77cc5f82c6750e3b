import { open, opendir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isUuid, makeFolder } from '#lib/kernel';
import type { Part } from '../domain/artifact-file.js';
import type { ArtifactStore, StoredFile } from './artifact-store.js';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Where files are until they are complete. A rename works only within one file system. */
const UNFINISHED = 'unfinished';
/** The file with the id of the installation to which the folder belongs. */
const OWNER = 'installation';
const TWO_DIGITS = /^[0-9a-f]{2}$/;

/**
 * A store in a folder, which several servers can share. A file becomes visible as a whole, after
 * it is on the disk. Its path is `<2 digits>/<2 digits>/<id>`, by the random end of the id. Other
 * files of the folder are never read or removed.
 */
export class FolderStore implements ArtifactStore {
  constructor(private readonly folder: string) {}

  /**
   * Takes the folder for an installation, unless it has an owner. It then belongs to it for good.
   *
   * @returns the id of the owner
   * @throws the error of the file system
   */
  async claim(installation: string): Promise<string> {
    makeFolder(this.folder, FOLDER_MODE);
    const path = join(this.folder, OWNER);
    const write = (flag: 'wx' | 'w') =>
      writeFile(path, `${installation}\n`, { flag, mode: FILE_MODE, flush: true });
    await write('wx').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const owner = (await readFile(path, 'utf8')).trim();
    if (owner !== '') return owner;
    // The server that created the file was killed before it wrote the id.
    await write('w');
    return installation;
  }

  async write(key: string, content: AsyncIterable<Buffer>): Promise<void> {
    const unfinished = join(this.folder, UNFINISHED);
    makeFolder(unfinished, FOLDER_MODE);
    const path = join(unfinished, key);
    try {
      // Open before the first byte: a stream that opens it itself can create it after its removal.
      const file = await open(path, 'wx', FILE_MODE);
      await pipeline(content, file.createWriteStream({ flush: true }));
      const folder = this.folderOf(key);
      makeFolder(folder, FOLDER_MODE);
      await rename(path, join(folder, key));
      await flushFolder(folder);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  async read(key: string, part?: Part): Promise<Readable | undefined> {
    const file = await open(join(this.folderOf(key), key)).catch(unlessMissing);
    return file?.createReadStream(part);
  }

  async remove(key: string): Promise<void> {
    await rm(join(this.folderOf(key), key), { force: true });
  }

  async *list(): AsyncIterable<StoredFile> {
    for await (const name of namesIn(join(this.folder, UNFINISHED), 'file')) {
      if (isUuid(name)) yield* storedFile(join(this.folder, UNFINISHED, name));
    }
    for await (const first of namesIn(this.folder, 'folder')) {
      if (!TWO_DIGITS.test(first)) continue;
      for await (const second of namesIn(join(this.folder, first), 'folder')) {
        if (TWO_DIGITS.test(second)) yield* this.listFolder(join(this.folder, first, second));
      }
    }
  }

  private async *listFolder(folder: string): AsyncIterable<StoredFile> {
    for await (const name of namesIn(folder, 'file')) {
      if (isUuid(name) && this.folderOf(name) === folder) {
        yield* storedFile(join(folder, name), name);
      }
    }
  }

  private folderOf(key: string): string {
    return join(this.folder, key.slice(-2), key.slice(-4, -2));
  }
}

async function* storedFile(path: string, key?: string): AsyncIterable<StoredFile> {
  const facts = await stat(path).catch(unlessMissing);
  const remove = () => rm(path, { force: true });
  if (facts) yield { key, remove, changedAt: facts.mtime };
}

async function* namesIn(folder: string, kind: 'file' | 'folder'): AsyncIterable<string> {
  const entries = await opendir(folder).catch(unlessMissing);
  for await (const entry of entries ?? []) {
    if (kind === 'file' ? entry.isFile() : entry.isDirectory()) yield entry.name;
  }
}

/** Otherwise a power failure can lose the name of a file whose content is on the disk. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
