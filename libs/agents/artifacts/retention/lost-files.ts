import type { SqlRunner } from '#lib/database';
import type { ArtifactStore, StoredFile } from '../files/artifact-store.js';
import { knownArtifacts } from './prune-artifacts.sql.js';

/** An upload writes its row within this time after its file, in milliseconds. */
const SETTLED_AFTER_MS = 3_600_000;
const BATCH = 1_000;

/**
 * Files that no row names, older than an hour: of uploads that broke off, and of artifacts whose
 * removal broke off.
 *
 * @param runner of the service role, which sees all workspaces
 */
export async function* findLostFiles(
  store: ArtifactStore,
  runner: SqlRunner,
): AsyncIterable<StoredFile> {
  let batch: StoredFile[] = [];
  for await (const file of store.list()) {
    if (Date.now() - file.changedAt.getTime() < SETTLED_AFTER_MS) continue;
    batch.push(file);
    if (batch.length < BATCH) continue;
    yield* await withoutRow(batch, runner);
    batch = [];
  }
  if (batch.length > 0) yield* await withoutRow(batch, runner);
}

async function withoutRow(files: StoredFile[], runner: SqlRunner): Promise<StoredFile[]> {
  const keys = files.flatMap(({ key }) => key ?? []);
  const known = new Set((await runner.rows(knownArtifacts, [keys])).map(({ id }) => id));
  return files.filter(({ key }) => key === undefined || !known.has(key));
}
