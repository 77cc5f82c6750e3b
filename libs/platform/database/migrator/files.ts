import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#lib/kernel';
import { MigrationError } from './errors.js';

export interface MigrationFile {
  name: string;
  sql: string;
  /** SHA-256 of the file in hex, as Prisma computes it. */
  checksum: string;
  /** The checksums of the file with the line ends of other systems. */
  otherChecksums: readonly string[];
  /** Why servers that do not know this migration cannot work with it. Undefined: they can. */
  stopsServers?: string;
}

/**
 * A text beside `migration.sql`, and not a line in it, because an applied file must not change. It
 * completes "… stops older servers, because".
 */
const STOPS_SERVERS = 'stops-servers.txt';

/**
 * The migrations of this build, oldest first. @throws MigrationError when their folder is damaged
 */
export function readMigrations(dir = join(projectRoot, 'prisma', 'migrations')): MigrationFile[] {
  if (!existsSync(dir)) throw new MigrationError(`The folder ${dir} is missing: reinstall Drover.`);
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => ({
      ...migrationFile(name, readSql(join(dir, name, 'migration.sql'))),
      ...readReason(join(dir, name, STOPS_SERVERS)),
    }));
}

function readReason(path: string): Pick<MigrationFile, 'stopsServers'> {
  return existsSync(path) ? { stopsServers: readFileSync(path, 'utf8').trim() } : {};
}

export function migrationFile(name: string, sql: string): MigrationFile {
  const unix = sql.replaceAll('\r\n', '\n');
  const otherChecksums = [sha256(unix), sha256(unix.replaceAll('\n', '\r\n'))];
  return { name, sql, checksum: sha256(sql), otherChecksums };
}

function readSql(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new MigrationError(`The migration ${path} can't be read: restore it, or reinstall.`, {
      cause: error,
    });
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
