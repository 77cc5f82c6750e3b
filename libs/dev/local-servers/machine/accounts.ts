import { execFile } from 'node:child_process';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedError } from './errors.js';

const execute = promisify(execFile);

/** Whom PostgreSQL runs as when we are root, which it refuses to run as. */
export interface Account {
  uid: number;
  gid: number;
}

const SERVICE_ACCOUNT = 'drover-postgres';

/** The account for new data: undefined means our own, because we aren't root. */
export async function serviceAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const found = (await lookUp('postgres')) ?? (await lookUp(SERVICE_ACCOUNT));
  if (found) return found;
  for (const [command, ...args] of ACCOUNT_MAKERS) {
    await execute(command, args).catch(() => undefined);
    const made = await lookUp(SERVICE_ACCOUNT);
    if (made) return made;
  }
  const nobody = await lookUp('nobody');
  if (nobody) return nobody;
  throw new EmbeddedError(
    'permission_denied',
    'PostgreSQL refuses to run as root and no other account could be made: add one with `useradd --system drover-postgres`, or run as an ordinary user.',
  );
}

const ACCOUNT_MAKERS: [string, ...string[]][] = [
  [
    'useradd',
    '--system',
    '--no-create-home',
    '--user-group',
    '--shell',
    '/usr/sbin/nologin',
    SERVICE_ACCOUNT,
  ],
  ['adduser', '-S', '-D', '-H', SERVICE_ACCOUNT],
];

async function lookUp(name: string): Promise<Account | undefined> {
  try {
    const uid = Number((await execute('id', ['-u', name])).stdout);
    const gid = Number((await execute('id', ['-g', name])).stdout);
    return uid > 0 ? { uid, gid } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the account may pass through every folder down to `path`, that one included. */
export async function canReach(path: string, account: Account): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid, gid } = await stat(folder);
    const needed = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & needed) === 0) return false;
    if (folder === parse(folder).root) return true;
  }
}

/** Makes the folder and what is missing above it, passable for others whatever the umask says. */
export async function makePassableFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  await makePassableFolder(dirname(path));
  await mkdir(path).catch((error: unknown) => {
    if (!existsSync(path)) throw error;
  });
  const { mode, uid } = await stat(path);
  if (uid === process.getuid?.()) await chmod(path, (mode & 0o777) | 0o111);
}
