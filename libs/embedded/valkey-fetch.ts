import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedError, errnoOf, explainFileError } from './errors.js';
import { withLock } from './lock.js';
import { projectRoot } from './project.js';
import type { Supervisor } from './supervisor.js';
import type { ValkeyProgram } from './valkey-program.js';
import { probe, SERVER_NAMES } from './valkey-program.js';

export interface Fetching {
  /** Runs the package tools, so that they too end when we do. */
  supervisor: Supervisor;
  progress?: ((message: string) => void) | undefined;
}

const COMMAND_WITHIN_MS = 180_000;

interface System {
  /** Such as `debian-12`. */
  name: string;
  family: string[];
}

/**
 * The server out of the distribution's own package, unpacked into the project's cache folder
 * without installing anything and without root. One process fetches, the others wait for it.
 */
export async function fetchValkey({ supervisor, progress }: Fetching): Promise<ValkeyProgram> {
  const system = await thisSystem();
  const cache = await cacheFolder();
  const cached = await fromCache(cache, system);
  if (cached) return cached;
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg-deb')) throw missing(system);
  return withLock(`fetching Valkey into ${cache}`, async () => {
    const meanwhile = await fromCache(cache, system);
    if (meanwhile) return meanwhile;
    progress?.('fetching a Valkey server from the distribution (once)');
    return fetchInto(cache, system, supervisor);
  });
}

/** In the project, or, where that is read-only, in the home folder. */
async function cacheFolder(): Promise<string> {
  const places = [
    join(projectRoot(), '.cache', 'valkey'),
    join(homedir(), '.cache', 'drover', 'valkey'),
  ];
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

async function fromCache(cache: string, system: System): Promise<ValkeyProgram | undefined> {
  const prefix = `${system.name}-${process.arch}-`;
  const found = (await readdir(cache)).filter((name) => name.startsWith(prefix)).sort();
  for (const name of found.reverse()) {
    const program = await unpackedProgram(join(cache, name));
    if (program) return program;
  }
  return undefined;
}

async function unpackedProgram(folder: string): Promise<ValkeyProgram | undefined> {
  const libraries = await libraryFolders(folder);
  for (const name of SERVER_NAMES) {
    const env = { LD_LIBRARY_PATH: libraries.join(':') };
    const program = await probe(join(folder, 'usr', 'bin', name), env);
    if (program) return program;
  }
  return undefined;
}

async function libraryFolders(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const top of [join(folder, 'usr', 'lib'), join(folder, 'lib')]) {
    if (!existsSync(top)) continue;
    const inner = await readdir(top, { withFileTypes: true });
    found.push(top, ...inner.filter((e) => e.isDirectory()).map((e) => join(top, e.name)));
  }
  return found;
}

async function fetchInto(
  cache: string,
  system: System,
  supervisor: Supervisor,
): Promise<ValkeyProgram> {
  const work = join(cache, `.tmp-${randomBytes(4).toString('hex')}`);
  for (const name of await readdir(cache)) {
    if (name.startsWith('.tmp-')) await rm(join(cache, name), { recursive: true, force: true });
  }
  await supervisor.own(work);
  try {
    const tools = await privateApt(work, supervisor);
    await tools.apt('apt-get', ['update']).catch(() => undefined);
    for (const server of SERVER_NAMES) {
      const version = await candidateVersion(tools, server);
      if (version === undefined) continue;
      const folder = join(work, 'root');
      await unpackPackages(tools, server, { work, folder });
      if (!(await unpackedProgram(folder))) continue;
      // A colon would split LD_LIBRARY_PATH.
      const label = `${server}-${version}`.replace(/[^A-Za-z0-9.+~-]/g, '_');
      const target = join(cache, `${system.name}-${process.arch}-${label}`);
      await rm(target, { recursive: true, force: true });
      await rename(folder, target);
      const program = await unpackedProgram(target);
      if (program) return program;
    }
  } catch (error) {
    throw explainFetchError(error, cache, system);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  throw missing(system);
}

type Tool = (program: string, args: string[], cwd?: string) => Promise<string>;

interface Tools {
  apt: Tool;
  dpkg: Tool;
}

/** apt with lists, state and cache of its own, so that neither root nor fresh lists are needed. */
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

// The proxy settings are in there.
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
  server: string,
  { work, folder }: { work: string; folder: string },
): Promise<void> {
  const packages = join(work, 'packages');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await tools.apt('apt-get', ['download', ...(await packagesFor(tools, server))], packages);
  for (const name of await readdir(packages)) {
    await tools.dpkg('dpkg-deb', ['-x', join(packages, name), folder]);
    await rm(join(packages, name));
  }
}

/** The server, its tools (in some versions the program itself) and the libraries missing here. */
async function packagesFor(tools: Tools, server: string): Promise<string[]> {
  const companion = server.replace('-server', '-tools');
  const plan = await tools.apt('apt-get', [
    'install',
    '--simulate',
    '--no-install-recommends',
    server,
  ]);
  const needed = [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] ?? '');
  const wanted = needed.filter((name) => /^(lib|lua)/.test(name) || name === companion);
  return [...new Set([server, ...wanted])];
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

const INSTALL_COMMANDS: Record<string, string> = {
  darwin: 'brew install valkey',
  alpine: 'apk add valkey',
  arch: 'pacman -S valkey',
  fedora: 'dnf install valkey',
  suse: 'zypper install valkey',
  debian: 'apt-get update && apt-get install redis-server',
  ubuntu: 'apt-get update && apt-get install redis-server',
};

function missing(system: System, cause?: unknown): EmbeddedError {
  const known = system.family.find((name) => name in INSTALL_COMMANDS) ?? 'debian';
  const command = INSTALL_COMMANDS[known] ?? '';
  return new EmbeddedError(
    'valkey_missing',
    `There is no Valkey or Redis server (6.2 or later) here and none could be fetched: run \`${command}\`, or set VALKEY_URL to a server of your own.`,
    { cause },
  );
}

function explainFetchError(error: unknown, cache: string, system: System): unknown {
  if (error instanceof EmbeddedError) return error;
  const text = String(error);
  if (/No space left|not have enough free space/.test(text)) {
    return explainFileError(Object.assign(new Error(text), { code: 'ENOSPC' }), cache);
  }
  const explained = explainFileError(error, cache);
  return explained instanceof EmbeddedError ? explained : missing(system, error);
}
