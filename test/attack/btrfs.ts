import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedError, fetchPackage, Supervisor } from '#lib/local-servers';

const execute = promisify(execFile);
/** Folders of programs, from `usr/bin` of the package. */
const FOLDERS = ['.', '../sbin', '../../bin', '../../sbin'];
const SIZE_BYTES = 512 * 1_048_576;

/** A mounted file system of its own, in a file. */
export interface FileSystem {
  /** Its top folder. */
  path: string;
  /** A folder with the program `btrfs`. */
  bin: string;
  btrfs: (...args: string[]) => string;
  remove: () => void;
}

/** @returns the reason if this machine has no such file system */
export async function mountBtrfs(): Promise<FileSystem | string> {
  if (process.getuid?.() !== 0) return 'only root can mount one';
  const folder = mkdtempSync(join(tmpdir(), 'drover-btrfs-'));
  const [image, path, bin] = ['image', 'mounted', 'bin'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const btrfs = (...args: string[]): string => {
    return execFileSync(join(bin, 'btrfs'), args, { encoding: 'utf8', stdio: 'pipe' });
  };
  const remove = (): void => {
    execFileSync('umount', [path], { stdio: 'pipe' });
    rmSync(folder, { recursive: true });
  };
  try {
    for (const each of [path, bin]) mkdirSync(each);
    await linkPrograms(bin);
    writeFileSync(image, '');
    truncateSync(image, SIZE_BYTES);
    execFileSync(join(bin, 'mkfs.btrfs'), ['-q', image], { stdio: 'pipe' });
    execFileSync('mount', ['-o', 'loop,commit=1', image, path], { stdio: 'pipe' });
    return { path, bin, btrfs, remove };
  } catch (error) {
    rmSync(folder, { recursive: true });
    return (error as Error).message;
  }
}

/** The programs find their libraries only with a variable that the tested code does not set. */
async function linkPrograms(bin: string): Promise<void> {
  const supervisor = await Supervisor.start();
  try {
    await fetchPackage<true>(
      {
        name: 'btrfs-progs',
        title: 'the programs of btrfs',
        packages: ['btrfs-progs'],
        needs: (needed) => needed.startsWith('lib'),
        probe: async (usrBin, env) => {
          for (const name of ['btrfs', 'mkfs.btrfs']) {
            const file = FOLDERS.map((to) => join(usrBin, to, name)).find((path) =>
              existsSync(path),
            );
            const works = file && execute(file, ['--version'], { env }).catch(() => undefined);
            if (!(await works)) return undefined;
            const script = `#!/bin/sh\nLD_LIBRARY_PATH='${env['LD_LIBRARY_PATH']}' exec '${file}' "$@"\n`;
            writeFileSync(join(bin, name), script, { mode: 0o755 });
          }
          return true;
        },
        missing: (_, cause) => new EmbeddedError('binaries_missing', 'it cannot be had', { cause }),
      },
      { supervisor },
    );
  } finally {
    await supervisor.close();
  }
}
