import type { Redis } from 'iovalkey';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestDatabase } from '../../support/database.js';

/** Returns all rows of all tables as text. */
export async function dumpOfDatabase({ owner }: TestDatabase): Promise<string> {
  const tables = await owner.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts = await Promise.all(
    tables.rows.map(async ({ name }) => {
      const { rows } = await owner.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      return rows.map(({ row }) => `${name} ${row}`).join('\n');
    }),
  );
  return texts.join('\n');
}

/** Returns all keys with the prefix, and their values. */
export async function dumpOfValkey(valkey: Redis, prefix: string): Promise<string> {
  const keys = await valkey.keys(`${prefix}*`);
  const texts = await Promise.all(
    keys.map(async (key) => {
      switch (await valkey.type(key)) {
        case 'string':
          return valkey.get(key);
        case 'hash':
          return JSON.stringify(await valkey.hgetall(key));
        case 'list':
          return JSON.stringify(await valkey.lrange(key, 0, -1));
        case 'set':
          return JSON.stringify(await valkey.smembers(key));
        case 'zset':
          return JSON.stringify(await valkey.zrange(key, 0, -1));
        default:
          return (await valkey.dumpBuffer(key))?.toString('latin1');
      }
    }),
  );
  return texts.map((text, index) => `${keys[index]} ${text}`).join('\n');
}

/** Returns all files below the folder by their paths. */
export function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(files.map((file) => [file, readFileSync(file, 'latin1')]));
}
