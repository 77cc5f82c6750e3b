import { assertNever } from '#lib/kernel';
import type { MigrationFile } from './files.js';

/** A row of `_prisma_migrations`. */
export interface AppliedMigration {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
  rolled_back_at: Date | null;
}

export type MigrationPlan =
  | { kind: 'apply'; pending: MigrationFile[] }
  | { kind: 'changed'; name: string }
  | { kind: 'failed'; name: string }
  | { kind: 'newer'; names: string[] };

/** Decides how to migrate a database from the files of this build, oldest first, and its rows. */
export function planMigration(
  files: readonly MigrationFile[],
  rows: readonly AppliedMigration[],
): MigrationPlan {
  const live = rows.filter((row) => row.rolled_back_at === null);
  const failed = live.find((row) => row.finished_at === null);
  if (failed) return { kind: 'failed', name: failed.migration_name };
  const known = new Map(files.map((file) => [file.name, file]));
  const newer = live.map((row) => row.migration_name).filter((name) => !known.has(name));
  if (newer.length > 0) return { kind: 'newer', names: newer };
  const changed = live.find((row) => !isOf(row, known.get(row.migration_name)));
  if (changed) return { kind: 'changed', name: changed.migration_name };
  const applied = new Set(live.map((row) => row.migration_name));
  return { kind: 'apply', pending: files.filter((file) => !applied.has(file.name)) };
}

// Git may have changed the line endings on another system. Prisma tolerates that, too.
function isOf(row: AppliedMigration, file: MigrationFile | undefined): boolean {
  return file?.checksum === row.checksum || !!file?.otherChecksums.includes(row.checksum);
}

/** The message for a migration that cannot continue. Null if it can. */
export function refusal(plan: MigrationPlan): string | null {
  switch (plan.kind) {
    case 'apply':
      return null;
    case 'changed':
      return (
        `The migration ${plan.name} was changed after it had been applied to this database: ` +
        'restore its file, and put the change into a new migration.'
      );
    case 'failed':
      return (
        `The migration ${plan.name} failed before and is unfinished: repair the database, then ` +
        'mark its row in _prisma_migrations as rolled back.'
      );
    case 'newer':
      return (
        `The database has a newer version of Drover (it has ${plan.names.join(', ')}): ` +
        'start that ' +
        'version, or use another database.'
      );
    default:
      return assertNever(plan);
  }
}
