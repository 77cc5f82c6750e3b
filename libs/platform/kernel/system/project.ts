import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/**
 * The folder that holds package.json, dist and prisma. It is the same for sources, compiled files and
 * bundled programs, so files are found from here and not from the file that needs them.
 */
export const projectRoot = findRoot();

/** The path of a compiled file. @param path below dist */
export function built(path: string): string {
  return join(projectRoot, 'dist', path);
}

/** The clone that contains this program. Installed packages and containers have none. */
export function findClone(): string | undefined {
  return existsSync(join(projectRoot, 'scripts', 'start.mjs')) ? projectRoot : undefined;
}

/**
 * The folder of a local installation: DROVER_HOME, or `.drover` of the clone, or `.drover` of the
 * user for an installed package. The working directory does not count: a foreign checkout could
 * contain its own address.
 */
export function droverHome(named = process.env['DROVER_HOME']): string {
  return resolve(named || join(findClone() ?? homedir(), '.drover'));
}

/** The folder into which `drover agent install` installs coding agents by default. */
export function agentsFolder(): string {
  const clone = findClone();
  return clone === undefined ? join(droverHome(), 'agents') : join(clone, '.cache', 'agents');
}

/** The version of the project. */
export function projectVersion(): string {
  const text = readFileSync(join(projectRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function findRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error('package.json of Drover is missing: reinstall Drover.');
    folder = above;
  }
  return folder;
}
