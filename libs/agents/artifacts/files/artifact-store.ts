import type { Readable } from 'node:stream';
import type { Part } from '../domain/artifact-file.js';

/** One file of a store. A file that is still written has no key. */
export interface StoredFile {
  key: string | undefined;
  /** Removes exactly this file. */
  remove: () => Promise<void>;
  changedAt: Date;
}

/**
 * The place of the contents of artifacts. A key is the id of an artifact, which is never used
 * again, so that a content never changes.
 */
export interface ArtifactStore {
  /**
   * Stores the content durably. If reading it fails, nothing is stored under the key.
   *
   * @throws the error of the content, or of the store
   */
  write(key: string, content: AsyncIterable<Buffer>): Promise<void>;
  /** The content or a part of it. Undefined if there is none. */
  read(key: string, part?: Part): Promise<Readable | undefined>;
  /** Does nothing if there is none. */
  remove(key: string): Promise<void>;
  /** All files of the store in no order, those of interrupted writes too. */
  list(): AsyncIterable<StoredFile>;
}
