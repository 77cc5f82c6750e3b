// Tools for every job of the demo. A job is an ordinary program: it reads its input from the file
// that the worker names, and speaks to Drover by lines on standard output.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface JobContext {
  /** The folder that the job examines. */
  root: string;
  /** The folder in which jobs store results for their dependents. */
  shared: string;
  checkpoint: Record<string, unknown>;
  attempt: number;
}

export interface JobResult {
  summary: string;
  [name: string]: unknown;
}

export function say(message: Record<string, unknown>): void {
  process.stdout.write(`::drover ${JSON.stringify(message)}\n`);
}

export function progress(done: number, total: number, step?: string): void {
  const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
  say({ progress: Math.min(99, percent), ...(step === undefined ? {} : { step }) });
}

/** Runs the job, and stores its result in the shared folder under the job's name and in Drover. */
export async function runJob(
  name: string,
  work: (context: JobContext) => JobResult | Promise<JobResult>,
): Promise<void> {
  const context: JobContext = {
    root: setting('DEMO_ROOT'),
    shared: setting('DEMO_SHARED'),
    checkpoint: readJson(setting('DROVER_CHECKPOINT_FILE')),
    attempt: Number(setting('DROVER_ATTEMPT')),
  };
  const result = await work(context);
  writeShared(context, name, result);
  say({ progress: 100, result: brief(result), summary: result.summary });
}

/** Returns the result of a job that this one depends on. */
export function resultOf<T = Record<string, unknown>>({ shared }: JobContext, name: string): T {
  return readJson<T>(join(shared, `${name}.json`));
}

export function listedFiles(context: JobContext): string[] {
  return resultOf<{ files: string[] }>(context, 'list').files;
}

export function readText({ root }: JobContext, path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.drover', '.cache', 'coverage']);

/** Returns tracked files from git, or else all files of the folder; sorted, below `root`. */
export function projectFiles(root: string): { files: string[]; by: string } {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 26 } as const;
    const listed = execFileSync('git', ['ls-files', '-z'], options).split('\0');
    const files = listed.filter((path) => path !== '' && isFile(join(root, path)));
    if (files.length > 0) return { files: files.sort(), by: 'git' };
  } catch {
    // There is no git, no repository, or one that git does not trust.
  }
  return { files: walk(root, '', NOT_OURS), by: 'walking the folder' };
}

/** Returns files below `root/folder`, in the same order on every machine. */
export function walk(root: string, folder: string, without = new Set<string>()): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const sorted = entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return without.has(entry.name) ? [] : walk(root, path, without);
    return entry.isFile() ? [path] : [];
  });
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Counts each key, the most frequent first. */
export function tally(keys: Iterable<string>): [string, number][] {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/**
 * Returns the part of the project that a file belongs to, such as `apps/server` for
 * `apps/server/main.ts`.
 */
export function partOf(path: string): string {
  const parts = path.split('/');
  if (parts.length === 1) return '(top)';
  const depth = { apps: 2, libs: 3, tools: 2, test: 2 }[parts[0] ?? ''] ?? 1;
  return parts.slice(0, parts.length > depth ? depth : 1).join('/');
}

export function number(value: number): string {
  return value.toLocaleString('en-US');
}

function writeShared({ shared }: JobContext, name: string, result: JobResult): void {
  const path = join(shared, `${name}.json`);
  writeFileSync(`${path}.${process.pid}`, JSON.stringify(result));
  renameSync(`${path}.${process.pid}`, path);
}

/** Removes the long lists, which only other jobs want. */
function brief(result: JobResult): Record<string, unknown> {
  const short = ([, value]: [string, unknown]) => JSON.stringify(value).length < 20_000;
  return Object.fromEntries(Object.entries(result).filter(short));
}

function readJson<T = Record<string, unknown>>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: a worker of the demo sets it.`);
  return value;
}
