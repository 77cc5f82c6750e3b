import { execFile } from 'node:child_process';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedError } from './errors.js';

const execute = promisify(execFile);

/** The account of PostgreSQL, which refuses to run as root. */
export interface Account {
  uid: number;
  gid: number;
}

const SERVICE_ACCOUNT = 'drover-postgres';

/** The account for new data. Undefined means the current user, who is not root. */
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

/** Whether the account can enter every folder down to `path`, including it. */
export async function canReach(path: string, account: Account): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid, gid } = await stat(folder);
    const needed = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & needed) === 0) return false;
    if (folder === parse(folder).root) return true;
  }
}

/** Creates the folder and its missing parents, accessible to others whatever the umask is. */
export async function makePassableFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  await makePassableFolder(dirname(path));
  await mkdir(path).catch((error: unknown) => {
    if (!existsSync(path)) throw error;
  });
  const { mode, uid } = await stat(path);
  if (uid === process.getuid?.()) await chmod(path, (mode & 0o777) | 0o111);
}
