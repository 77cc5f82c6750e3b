import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, open, readFile, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import type { AgentKind } from '../domain/agent-kind.js';
import { KINDS } from '../kinds/index.js';
import { binFolder } from './install-kind.js';

/** A kind that this machine can run. */
export interface InstalledKind {
  name: string;
  installed: true;
  /**
   * The start of its command on this machine: the native program of a package that has one. In front
   * of a script for Node is the Node that runs this process. It is empty for a kind whose settings
   * name the command.
   */
  command: string[];
  /** It is empty for a kind whose settings name the command. */
  version: string;
  /** The folders that a sandbox must show, read-only, at the same paths. */
  folders: string[];
}

/** A kind that this machine cannot run. */
export interface MissingKind {
  name: string;
  installed: false;
  /** A sentence for people: what is missing, and how to get it. */
  missing: string;
}

export type KindOnMachine = InstalledKind | MissingKind;

export interface FindOptions {
  /** The folders in which programs are looked up, in the form of PATH. */
  searchPath: string;
  /** Folders into which `installKind` installed kinds. They come before the search path. */
  folders: readonly string[];
}

/**
 * Finds the kinds that this machine can run. It reads a few small files for each kind, and starts a
 * program only if no package tells its version.
 */
export function findKinds(options: FindOptions): Promise<KindOnMachine[]> {
  return Promise.all(KINDS.map((kind) => findKind(kind, options)));
}

export async function findKind(kind: AgentKind, options: FindOptions): Promise<KindOnMachine> {
  const { name, program } = kind;
  if (program === null) return { name, installed: true, command: [], version: '', folders: [] };
  const own = options.folders.map((folder) => binFolder(folder, kind));
  const searched = options.searchPath.split(delimiter).filter((folder) => folder.startsWith('/'));
  const found = await firstExecutable([...own, ...searched], program.name);
  if (found === undefined) return missing(kind, `There is no program "${program.name}".`);
  const type = await typeOf(found);
  if (type === 'neither') {
    return missing(kind, `${found} is not executable: its installation is incomplete.`);
  }
  const file = await realpath(found);
  const root = await packageOf(file);
  const version =
    root === undefined
      ? await askVersion(found, options.searchPath)
      : (await readPackage(root))?.version;
  if (version === undefined) return missing(kind, `${found} does not tell its version.`);
  const isScript = type === 'script for Node';
  const native = isScript && root !== undefined ? await nativeOf(root, kind) : undefined;
  if (native !== undefined) {
    const folders = [(await packageOf(native)) ?? dirname(native)];
    return { name, installed: true, command: [native], version, folders };
  }
  // A program beside no package may be a single file. Its folder is shown with its neighbours.
  const folders = root === undefined ? [dirname(file)] : await foldersOf(root);
  if (isScript) folders.push(dirname(process.execPath));
  const command = isScript ? [process.execPath, file] : [file];
  return { name, installed: true, command, version, folders: [...new Set(folders)] };
}

function missing(kind: AgentKind, reason: string): MissingKind {
  const how = `Install it with \`drover agent install ${kind.name}\` on this machine.`;
  return { name: kind.name, installed: false, missing: `${reason} ${how}` };
}

async function firstExecutable(folders: string[], name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const file = join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** A package whose installation script did not run has a text without an interpreter. */
async function typeOf(file: string): Promise<'native' | 'script' | 'script for Node' | 'neither'> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    const start = buffer.subarray(0, bytesRead).toString('latin1');
    if (start.startsWith('#!')) {
      return /^#!\S*(?:\/env(?: -S)?\s+|\/)node\b/.test(start) ? 'script for Node' : 'script';
    }
    return NATIVE.some((magic) => start.startsWith(magic)) ? 'native' : 'neither';
  } finally {
    await handle.close();
  }
}

/** The first bytes of programs of Linux and macOS. */
const NATIVE = ['\u007FELF', '\u00CF\u00FA\u00ED\u00FE', '\u00CA\u00FE\u00BA\u00BE'];

/** Returns the folder of the package that has the file: the one below `node_modules`. */
async function packageOf(file: string): Promise<string | undefined> {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(modulesOf(folder)) !== 'node_modules') continue;
    return (await readPackage(folder)) === undefined ? undefined : folder;
  }
  return undefined;
}

/** A Node that only starts another program delays each session. */
async function nativeOf(root: string, { program }: AgentKind): Promise<string | undefined> {
  const path = program?.native?.[`${process.platform}-${process.arch}`];
  if (path === undefined) return undefined;
  const file = await realpath(join(modulesOf(root), path)).catch(() => '');
  return file !== '' && (await isExecutable(file)) ? file : undefined;
}

/** Returns the folder of packages in which a package lies. */
function modulesOf(root: string): string {
  const above = dirname(root);
  return basename(above).startsWith('@') ? dirname(above) : above;
}

interface Package {
  version?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

async function readPackage(root: string): Promise<Package | undefined> {
  try {
    return JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Package;
  } catch {
    return undefined;
  }
}

/**
 * Returns the folders of a package and of its dependencies beside it, for instance that of its
 * native program. Those below the package itself are shown with it.
 */
async function foldersOf(root: string): Promise<string[]> {
  const modules = modulesOf(root);
  const folders = [root];
  for (const folder of folders) {
    const { dependencies, optionalDependencies } = (await readPackage(folder)) ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const beside = join(modules, name);
      if (folders.includes(beside) || (await readPackage(beside)) === undefined) continue;
      folders.push(beside);
    }
  }
  return folders;
}

/** The time for a program to tell its version, in milliseconds. */
const VERSION_TIMEOUT_MS = 20_000;
const versions = new Map<string, string>();

/** Asks a program for its version, once for each file. */
async function askVersion(file: string, searchPath: string): Promise<string | undefined> {
  const { mtimeMs, size } = await stat(file);
  const key = `${file} ${mtimeMs} ${size}`;
  const version =
    versions.get(key) ?? /(?<!\d)\d+\.\d+[\w.+-]*/.exec(await outputOf(file, searchPath))?.[0];
  if (version !== undefined) versions.set(key, version);
  return version;
}

/** Its environment has nothing of this process: the program is not trusted. */
function outputOf(file: string, searchPath: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(file, ['--version'], {
      env: { PATH: searchPath },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: VERSION_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', () => resolve(''));
    child.on('close', () => resolve(output));
  });
}
