import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '#lib/kernel';

const VERSIONS = { 20: '20.20.2', 22: '22.23.3' } as const;
const PACKAGE = `node-linux-${process.arch}`;
const cache = join(projectRoot, '.cache');

/**
 * Returns an older Node of npm, installed below `.cache` at the first call; this Node if npm has no
 * such package. It is not a development dependency, because its `node` would replace the newer one
 * among their programs.
 */
export async function olderNode(major: keyof typeof VERSIONS): Promise<string> {
  if (process.platform !== 'linux') return process.execPath;
  const folder = join(cache, `node-${VERSIONS[major]}`);
  const program = join(folder, 'node_modules', PACKAGE, 'bin/node');
  if (!existsSync(program)) await install(`${PACKAGE}@${VERSIONS[major]}`, folder);
  return program;
}

/** Another spec can do the same at this moment. The first to finish counts. */
async function install(name: string, folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  try {
    await promisify(execFile)('npm', ['install', '--prefix', draft, ...flags, name]);
    if (!existsSync(folder)) renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
