import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import type { LaunchOptions } from 'playwright-core';
import { EmbeddedError, fetchPackage, Supervisor } from '#lib/local-servers';

const execute = promisify(execFile);

/** The shell has no interface of its own, and takes half the CPU. */
const PROGRAMS = ['chromium-headless-shell', 'chromium'] as const;

/** Root has no sandbox, and /dev/shm is small in containers. */
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];

/** The launch options of a test: `chromium.launch(await chromiumOptions())` of playwright-core. */
export async function chromiumOptions(): Promise<LaunchOptions> {
  return { executablePath: await chromiumPath(), args: FLAGS };
}

/**
 * Finds a Chromium for this machine: the one on the PATH, or else the distribution's package,
 * unpacked once into the project's cache folder (100 MB) and not installed.
 *
 * @throws EmbeddedError if neither is available
 */
export async function chromiumPath(): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  for (const program of PROGRAMS) {
    for (const folder of folders) {
      const file = join(folder, program);
      if (await works(file)) return file;
    }
  }
  return fetched();
}

async function fetched(): Promise<string> {
  const supervisor = await Supervisor.start();
  try {
    return await fetchPackage<string>(
      {
        name: PROGRAMS[0],
        title: 'Chromium',
        packages: PROGRAMS,
        needs: () => true,
        probe: unpacked,
        missing: (_, cause) =>
          new EmbeddedError(
            'binaries_missing',
            'There is no Chromium here, and none can be fetched: install `chromium` of your distribution.',
            { cause },
          ),
      },
      { supervisor },
    );
  } finally {
    await supervisor.close();
  }
}

/**
 * @param bin the folder `usr/bin` of the unpacked packages, whose own launcher knows only
 *   `/usr/lib`
 */
async function unpacked(bin: string, env: Record<string, string>): Promise<string | undefined> {
  const usr = dirname(bin);
  const starter = join(dirname(usr), 'chromium.sh');
  const variables = {
    ...env,
    // Returns the fonts of the packages, and the configuration that finds them.
    XDG_DATA_HOME: join(usr, 'share'),
    FONTCONFIG_PATH: `/etc/fonts:${join(dirname(usr), 'etc/fonts')}`,
  };
  const exports = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
  const programs = PROGRAMS.map((name) => join(usr, 'lib/chromium', name));
  const program = programs.find((path) => existsSync(path));
  if (program === undefined) return undefined;
  try {
    const lines = ['#!/bin/sh', ...exports, `exec '${program}' "$@"`, ''];
    await writeFile(starter, lines.join('\n'));
    await chmod(starter, 0o755);
  } catch {
    return undefined;
  }
  return (await works(starter)) ? starter : undefined;
}

async function works(file: string): Promise<boolean> {
  return execute(file, ['--version'], { timeout: 20_000 }).then(
    ({ stdout }) => stdout.includes('Chromium'),
    () => false,
  );
}
