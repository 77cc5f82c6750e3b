import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentKind } from '../domain/agent-kind.js';

/** The end of npm's output that an error repeats, in characters. */
const MAX_OUTPUT = 2_000;

/**
 * Installs the tested version of a kind below a folder of Drover, by npm. Each version has a folder
 * of its own, which appears complete: running sessions keep their program, and concurrent calls do
 * no harm. Does nothing if that version is installed.
 *
 * @param env the environment of npm, instead of that of this process
 * @throws {KindInstallError} if npm is missing or fails, or for a kind without a package
 */
export async function installKind(
  kind: AgentKind,
  folder: string,
  env?: NodeJS.ProcessEnv,
): Promise<void> {
  const [program, ...parameters] = installCommand(kind);
  if (program === undefined) {
    throw new KindInstallError(`The kind ${kind.name} has no package. Install its program.`);
  }
  const place = placeOf(folder, kind);
  if (await isInstalled(place)) return;
  await mkdir(folder, { recursive: true });
  const draft = await mkdtemp(`${place}.`);
  try {
    await run(program, [...parameters, '--prefix', draft], { cwd: draft, env });
    await chmod(draft, READABLE);
    await rename(draft, place).catch(async (error: unknown) => {
      // Another process was first.
      if (!(await isInstalled(place))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The command that installs a kind into the current folder. It is empty without a package. */
function installCommand({ program }: AgentKind): string[] {
  if (program === null) return [];
  const { npm, needsInstallScript } = program;
  // Scripts of all packages stay off if the program works without its own. The settings of npm can say
  // otherwise.
  const scripts = needsInstallScript ? '--ignore-scripts=false' : '--ignore-scripts';
  return ['npm', 'install', scripts, `${npm.package}@${npm.version}`];
}

/** The folder of an installed kind's commands. */
export function binFolder(folder: string, kind: AgentKind): string {
  return join(placeOf(folder, kind), 'node_modules', '.bin');
}

function placeOf(folder: string, { name, program }: AgentKind): string {
  return join(folder, `${name}-${program?.npm.version ?? ''}`);
}

/** The mode of an installation: sessions run as other users than the worker. */
const READABLE = 0o755;

async function isInstalled(place: string): Promise<boolean> {
  try {
    const { mode } = await stat(place);
    if ((mode & READABLE) !== READABLE) await chmod(place, READABLE);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function run(
  program: string,
  parameters: string[],
  place: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = ['--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
    const child = spawn(program, [...parameters, ...options], {
      ...place,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const take = (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-MAX_OUTPUT));
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', () => {
      reject(new KindInstallError('npm is missing. Install Node with npm, then try again.'));
    });
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new KindInstallError(`npm failed with exit code ${code}: ${output.trim()}`));
    });
  });
}

/** A kind could not be installed. The message is a sentence for people. */
export class KindInstallError extends Error {
  override name = 'KindInstallError';
}
