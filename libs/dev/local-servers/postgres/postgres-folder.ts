import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Account } from '../machine/accounts.js';
import { canReach, makePassableFolder, serviceAccount } from '../machine/accounts.js';
import { EmbeddedError, errnoOf, explainFileError } from '../machine/errors.js';

/** Place of root's data if PostgreSQL's account cannot enter the requested folder. */
const ELSEWHERE = '/var/lib/drover/data';

export interface PostgresFolder {
  path: string;
  pgdata: string;
  password: string;
  account: Account | undefined;
}

/**
 * Finds or creates the data folder: `pgdata` (the cluster) and `password` (readable only by its
 * owner). As root, the folder belongs to PostgreSQL's account. If that account cannot enter it, the
 * requested path becomes a symbolic link to a folder under /var/lib/drover/data, which
 * `beforeMaking` learns first.
 */
export async function preparePostgresFolder(
  requested: string,
  major: string,
  beforeMaking: (path: string) => Promise<void>,
): Promise<PostgresFolder> {
  const path = resolve(requested);
  try {
    return await prepare(path, major, beforeMaking);
  } catch (error) {
    throw explainFileError(error, path);
  }
}

async function prepare(
  requested: string,
  major: string,
  beforeMaking: (path: string) => Promise<void>,
): Promise<PostgresFolder> {
  const account = (await ownerOf(join(requested, 'pgdata'))) ?? (await serviceAccount());
  await makePassableFolder(dirname(requested));
  if (account && (await isFree(requested)) && !(await canReach(dirname(requested), account))) {
    await moveElsewhere(requested, beforeMaking);
  }
  await mkdir(requested, { recursive: true, mode: 0o700 });
  const path = await realpath(requested);
  if (account) await handOver(path, account);
  const pgdata = join(path, 'pgdata');
  await refuseForeign(path, pgdata);
  await refuseOtherMajor(pgdata, major);
  return { path, pgdata, password: await passwordOf(path, account), account };
}

// Root works on an ordinary user's data as that user, so that the files stay theirs.
async function ownerOf(pgdata: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0 || !existsSync(pgdata)) return undefined;
  const { uid, gid } = await stat(pgdata);
  return uid === 0 ? undefined : { uid, gid };
}

/** Whether nothing is there, or an empty folder, or a dangling link. */
async function isFree(requested: string): Promise<boolean> {
  if (!existsSync(requested)) return true;
  const link = await lstat(requested);
  return link.isDirectory() && (await readdir(requested)).length === 0;
}

async function moveElsewhere(
  requested: string,
  beforeMaking: (path: string) => Promise<void>,
): Promise<void> {
  const link = await lstat(requested).catch(() => undefined);
  if (link) await (link.isDirectory() ? rmdir(requested) : rm(requested));
  const hash = createHash('sha256').update(requested).digest('hex').slice(0, 12);
  const place = join(ELSEWHERE, `${hash}-${randomBytes(3).toString('hex')}`);
  await beforeMaking(place);
  await makePassableFolder(dirname(place));
  await mkdir(place, { mode: 0o700 });
  await symlink(place, requested).catch(async (error: unknown) => {
    await rmdir(place);
    if (errnoOf(error) !== 'EEXIST') throw error;
  });
}

async function handOver(path: string, account: Account): Promise<void> {
  if (!(await canReach(dirname(path), account))) {
    throw new EmbeddedError(
      'data_folder_unreachable',
      `The account that PostgreSQL runs as (uid ${String(account.uid)}) can't pass through the folders above ${path}: run \`chmod o+x\` on them, or choose another data folder.`,
    );
  }
  const { uid } = await stat(path);
  if (uid !== account.uid) await chown(path, account.uid, account.gid);
  await chmod(path, 0o700);
}

// Taking over a foreign folder with content would change its owner and mode. An empty one is safe.
async function refuseForeign(path: string, pgdata: string): Promise<void> {
  if (existsSync(pgdata)) return;
  const other = (await readdir(path)).find((name) => !/^(password|pgdata\..*)$/.test(name));
  if (other === undefined) return;
  throw new EmbeddedError(
    'data_folder_foreign',
    `${path} holds something else (${other}) and no PostgreSQL data of Drover's: choose an empty data folder.`,
  );
}

async function refuseOtherMajor(pgdata: string, major: string): Promise<void> {
  const file = join(pgdata, 'PG_VERSION');
  if (!existsSync(file)) return;
  const found = (await readFile(file, 'utf8')).trim();
  if (found === major) return;
  throw new EmbeddedError(
    'data_version',
    `The data in ${pgdata} was made by PostgreSQL ${found} and this is PostgreSQL ${major}: dump it with the old version and restore it here, or choose another data folder.`,
  );
}

async function passwordOf(path: string, account: Account | undefined): Promise<string> {
  const file = join(path, 'password');
  if (!existsSync(file)) {
    if (existsSync(join(path, 'pgdata'))) {
      throw new EmbeddedError(
        'data_folder_foreign',
        `The data in ${path} has lost its password file: put ${file} back, or choose another data folder.`,
      );
    }
    await writeFile(file, randomBytes(24).toString('base64url'), { flag: 'wx', mode: 0o600 });
    if (account) await chown(file, account.uid, account.gid);
  }
  return (await readFile(file, 'utf8')).trim();
}
