import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface ValkeyProgram {
  file: string;
  env: Record<string, string>;
  /** For example `Valkey 9.0.1` or `Redis 7.0.15`. */
  product: string;
}

export const SERVER_NAMES = ['valkey-server', 'redis-server'] as const;

/** The oldest version with the required commands. */
const OLDEST: readonly [number, number] = [6, 2];

const execute = promisify(execFile);

/** Runs `--version`. Undefined if the program is missing, cannot run here, or is too old. */
export async function probe(
  file: string,
  env: Record<string, string>,
): Promise<ValkeyProgram | undefined> {
  try {
    await access(file, constants.X_OK);
    const { stdout } = await execute(file, ['--version'], { env, timeout: 10_000 });
    const version = /v=(\d+)\.(\d+)\.(\d+)/.exec(stdout);
    if (!version) return undefined;
    const [major, minor] = [Number(version[1]), Number(version[2])];
    if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) return undefined;
    const brand = /valkey/i.test(stdout) ? 'Valkey' : 'Redis';
    return { file, env, product: `${brand} ${version[0].slice(2)}` };
  } catch {
    return undefined;
  }
}
