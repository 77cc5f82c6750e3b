import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface ValkeyProgram {
  file: string;
  env: Record<string, string>;
  /** Such as `Valkey 9.0.1` or `Redis 7.0.15`. */
  product: string;
}

export const SERVER_NAMES = ['valkey-server', 'redis-server'] as const;

/** The oldest that has the commands we use. */
const OLDEST: readonly [number, number] = [6, 2];

const execute = promisify(execFile);

/** Runs `--version`: undefined when it isn't there, can't run here, or is too old. */
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
