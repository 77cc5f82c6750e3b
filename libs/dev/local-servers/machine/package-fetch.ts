import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedError, errnoOf, explainFileError } from './errors.js';
import { withLock } from './lock.js';
import { findClone } from '#lib/kernel';
import type { Supervisor } from '../processes/supervisor.js';

export interface Fetching {
  /** Runs the package tools, so that they end with this process, too. */
  supervisor: Supervisor;
  progress?: ((message: string) => void) | undefined;
}

const COMMAND_WITHIN_MS = 180_000;

interface System {
  /** For example `debian-12`. */
  name: string;
  family: string[];
}

/** A program that distributions package. */
export interface Wanted<Program> {
  /** The name of its folder in the cache. */
  name: string;
  /** Its name in messages: `a Valkey server`. */
  title: string;
  /** Packages that contain it, the best first. */
  packages: readonly string[];
  /** Preferred packages for a dependency that several fulfil. */
  rather?: readonly string[];
  /** Tells whether a dependency of a package is included. */
  needs: (needed: string, by: string) => boolean;
  /** The program in the folder `bin`, if it works here. */
  probe: (bin: string, env: Record<string, string>) => Promise<Program | undefined>;
  /** The error with advice for a system of these names, if there is no package. */
  missing: (family: string[], cause?: unknown) => EmbeddedError;
}

interface Place<Program> {
  wanted: Wanted<Program>;
  cache: string;
  system: System;
}

/**
 * A program from the distribution's own package, unpacked into the project's cache folder without
 * installation and without root. One process downloads, and the others wait.
 *
 * @throws EmbeddedError
 */
export async function fetchPackage<Program>(
  wanted: Wanted<Program>,
  { supervisor, progress }: Fetching,
): Promise<Program> {
  const system = await thisSystem();
  const cache = await cacheFolder(wanted.name);
  const place = { wanted, cache, system };
  const cached = await fromCache(place);
  if (cached) return cached;
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg-deb')) {
    throw wanted.missing(system.family);
  }
  return withLock(`fetching ${wanted.title} into ${cache}`, async () => {
    const meanwhile = await fromCache(place);
    if (meanwhile) return meanwhile;
    progress?.(`fetching ${wanted.title} from the distribution (once)`);
    return fetchInto(place, supervisor);
  });
}

/** In the clone, or in the home folder if the clone is read-only or there is none. */
async function cacheFolder(name: string): Promise<string> {
  const clone = findClone();
  const ofUser = join(homedir(), '.cache', 'drover', name);
  const places = clone === undefined ? [ofUser] : [join(clone, '.cache', name), ofUser];
  for (const place of places) {
    try {
      await mkdir(place, { recursive: true });
      await access(place, constants.W_OK);
      return place;
    } catch (error) {
      if (errnoOf(error) === 'ENOSPC') throw explainFileError(error, place);
    }
  }
  throw explainFileError(
    Object.assign(new Error('read-only'), { code: 'EACCES' }),
    places[0] ?? '',
  );
}

async function fromCache<Program>({
  wanted,
  cache,
  system,
}: Place<Program>): Promise<Program | undefined> {
  const prefix = `${system.name}-${process.arch}-`;
  const found = (await readdir(cache)).filter((name) => name.startsWith(prefix)).sort();
  for (const name of found.reverse()) {
    const program = await unpackedProgram(wanted, join(cache, name));
    if (program) return program;
  }
  return undefined;
}

async function unpackedProgram<Program>(
  { probe }: Wanted<Program>,
  folder: string,
): Promise<Program | undefined> {
  const libraries = await libraryFolders(folder);
  return probe(join(folder, 'usr', 'bin'), { LD_LIBRARY_PATH: libraries.join(':') });
}

/** All folders with a library, also below another library folder, like PulseAudio's. */
async function libraryFolders(folder: string): Promise<string[]> {
  const found = new Set<string>();
  for (const top of [join(folder, 'usr', 'lib'), join(folder, 'lib')]) {
    if (!existsSync(top)) continue;
    const files = await readdir(top, { recursive: true, withFileTypes: true });
    for (const { name, parentPath } of files) if (/\.so(?:\.|$)/.test(name)) found.add(parentPath);
  }
  return [...found];
}

async function fetchInto<Program>(
  { wanted, cache, system }: Place<Program>,
  supervisor: Supervisor,
): Promise<Program> {
  const work = join(cache, `.tmp-${randomBytes(4).toString('hex')}`);
  for (const name of await readdir(cache)) {
    if (name.startsWith('.tmp-')) await rm(join(cache, name), { recursive: true, force: true });
  }
  await supervisor.own(work);
  try {
    const tools = await privateApt(work, supervisor);
    await tools.apt('apt-get', ['update']).catch(() => undefined);
    for (const server of wanted.packages) {
      const version = await candidateVersion(tools, server);
      if (version === undefined) continue;
      const folder = join(work, 'root');
      await unpackPackages(tools, await packagesFor(tools, server, wanted), { work, folder });
      if (!(await unpackedProgram(wanted, folder))) continue;
      // A colon would split LD_LIBRARY_PATH.
      const label = `${server}-${version}`.replace(/[^A-Za-z0-9.+~-]/g, '_');
      const target = join(cache, `${system.name}-${process.arch}-${label}`);
      await rm(target, { recursive: true, force: true });
      await rename(folder, target);
      const program = await unpackedProgram(wanted, target);
      if (program) return program;
    }
  } catch (error) {
    throw explainFetchError(error, cache, (cause) => wanted.missing(system.family, cause));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  throw wanted.missing(system.family);
}

type Tool = (program: string, args: string[], cwd?: string) => Promise<string>;

interface Tools {
  apt: Tool;
  dpkg: Tool;
}

/** apt with its own lists, state and cache, so that it needs neither root nor fresh lists. */
async function privateApt(work: string, supervisor: Supervisor): Promise<Tools> {
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'packages', 'root']) {
    await mkdir(join(work, folder), { recursive: true });
  }
  const settings = {
    'Dir::State': join(work, 'state'),
    'Dir::State::Lists': join(work, 'state', 'lists'),
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Cache': join(work, 'cache'),
    'Debug::NoLocking': 'true',
    'APT::Sandbox::User': process.getuid?.() === 0 ? 'root' : '',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '20',
    'Acquire::https::Timeout': '20',
    'Acquire::Languages': 'none',
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  const dpkg = toolRunner(work, supervisor);
  const apt: Tool = (program, args, cwd) => dpkg(program, [...options, ...args], cwd);
  return { apt, dpkg };
}

function toolRunner(work: string, supervisor: Supervisor): Tool {
  const env = { ...definedEnvironment(), LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  return async (file, args, cwd = work) => {
    const ending = { stopSignal: 'SIGTERM', stopWithinMs: 2_000 } as const;
    const command = { file, args, cwd, env, ...ending };
    const { code, lines } = await supervisor.runToEnd(command, COMMAND_WITHIN_MS);
    const output = lines.join('\n');
    if (code !== 0) throw new Error(`${file} ${args.at(-1) ?? ''} failed: ${output.slice(-2_000)}`);
    return output;
  };
}

// Contains the proxy settings.
function definedEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => !!entry[1]));
}

async function candidateVersion(tools: Tools, name: string): Promise<string | undefined> {
  const policy = await tools.apt('apt-cache', ['policy', name]).catch(() => '');
  const version = /Candidate: (\S+)/.exec(policy)?.[1];
  return version === '(none)' ? undefined : version;
}

async function unpackPackages(
  tools: Tools,
  names: string[],
  { work, folder }: { work: string; folder: string },
): Promise<void> {
  const packages = join(work, 'packages');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await tools.apt('apt-get', ['download', ...names], packages);
  for (const name of await readdir(packages)) {
    await tools.dpkg('dpkg-deb', ['-x', join(packages, name), folder]);
    await rm(join(packages, name));
  }
}

/** The package and its missing dependencies. */
async function packagesFor(
  tools: Tools,
  name: string,
  { needs, rather = [] }: Pick<Wanted<unknown>, 'needs' | 'rather'>,
): Promise<string[]> {
  const simulation = ['install', '--simulate', '--no-install-recommends', name, ...rather];
  const plan = await tools.apt('apt-get', simulation);
  const needed = [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] ?? '');
  return [...new Set([name, ...needed.filter((one) => needs(one, name))])];
}

async function thisSystem(): Promise<System> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const field = (key: string): string =>
    new RegExp(`^${key}="?([^"\\n]*)"?$`, 'm').exec(text)?.[1] ?? '';
  const id = field('ID') || process.platform;
  return {
    name: `${id}-${field('VERSION_ID') || 'any'}`.replace(/[^A-Za-z0-9.-]/g, '_'),
    family: [id, ...field('ID_LIKE').split(' ')],
  };
}

/** The command of the first system that has one, otherwise Debian's. */
export function installCommand(family: string[], commands: Record<string, string>): string {
  const known = family.find((name) => name in commands) ?? 'debian';
  return commands[known] ?? '';
}

function explainFetchError(
  error: unknown,
  cache: string,
  missing: (cause: unknown) => EmbeddedError,
): unknown {
  if (error instanceof EmbeddedError) return error;
  const text = String(error);
  if (/No space left|not have enough free space/.test(text)) {
    return explainFileError(Object.assign(new Error(text), { code: 'ENOSPC' }), cache);
  }
  const explained = explainFileError(error, cache);
  return explained instanceof EmbeddedError ? explained : missing(error);
}
