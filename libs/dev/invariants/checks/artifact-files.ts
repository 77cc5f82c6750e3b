import { findLostFiles, FolderStore } from '#lib/artifacts';
import type { SqlRunner } from '#lib/database';
import { allArtifacts } from './all-artifacts.sql.js';
import type { Outcome, Violation } from './invariant.js';
import { withRunner } from './runner.js';

const SHOWN_VIOLATIONS = 5;

/**
 * Whether each artifact has its file in `folder`, and each file older than an hour has its
 * artifact.
 *
 * Reads all artifacts and all files. An artifact that is removed meanwhile can be reported by
 * mistake.
 */
export function checkArtifactFiles(database: string | SqlRunner, folder: string): Promise<Outcome> {
  return withRunner(database, async (runner) => {
    const store = new FolderStore(folder);
    const rows = await runner.rows(allArtifacts);
    const violations: Violation[] = [];
    const present = new Set<string>();
    for await (const { key } of store.list()) if (key !== undefined) present.add(key);
    for (const { id } of rows) {
      if (!present.has(id)) violations.push({ subject: `artifact ${id}`, problem: 'has no file' });
    }
    for await (const { key = 'an unfinished file' } of findLostFiles(store, runner)) {
      violations.push({ subject: key, problem: 'is older than an hour, and has no artifact' });
    }
    return {
      name: 'artifact_files',
      title: 'Each artifact has a file, and each file an artifact',
      holds: violations.length === 0,
      violations: violations.slice(0, SHOWN_VIOLATIONS),
    };
  });
}
