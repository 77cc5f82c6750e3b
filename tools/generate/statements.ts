import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { declared, type Sql } from '#lib/database';
import type { Generated } from './generated.js';

/** A library or a program, with the statements of its modules. */
export interface Room {
  /** Its folder, such as `libs/work/runs`. */
  path: string;
  /** The statements by name. */
  statements: Sql[];
  /** Files with statements that have no name, because their text depends on a request. */
  unnamed: string[];
}

export interface Source {
  /** The path relative to the project's folder. */
  path: string;
  text: string;
}

/**
 * Every file that creates a statement imports one of the two. Other creators are loaded by their
 * users.
 */
const DECLARES = /\b(?:query|command|hotCommand)\b[^;]*from '#lib\/database'/;
const NAME = /(?:\(|name:)\s*'(\w+)'/g;
const UNNAMED = /\b(?:query|command)(?:<\w+>)?\(\s*''/;

/** Tests declare statements too, and share modules with each other. */
const OF_TESTS = /^spec_/;

/**
 * Loads every module that declares statements.
 *
 * @param root the folder of the project, with the sources
 * @throws Error if two statements have one name, or the declaring file of one is unknown
 */
export async function readRooms(root: string): Promise<{ rooms: Room[]; sources: Source[] }> {
  const sources = readSources(root);
  for (const { path, text } of sources) if (DECLARES.test(text)) await load(path);
  const rooms = new Map<string, Room>();
  const roomOf = (file: string): Room => {
    const path = roomOfFile(file);
    const room = rooms.get(path) ?? { path, statements: [], unnamed: [] };
    rooms.set(path, room);
    return room;
  };
  const files = filesByName(sources);
  for (const sql of declared.values())
    if (!OF_TESTS.test(sql.name)) roomOf(declaringFile(sql, files)).statements.push(sql);
  for (const { path, text } of sources) if (UNNAMED.test(text)) roomOf(path).unnamed.push(path);
  return { rooms: [...rooms.values()], sources };
}

/** Returns the sources that can have statements. */
export function readSources(root: string): Source[] {
  return ['libs', 'apps/server'].flatMap((folder) => sourcesIn(root, folder));
}

/** Returns the library (`libs/work/runs`) or program (`apps/server`) of a file. */
export function roomOfFile(file: string): string {
  return file
    .split('/')
    .slice(0, file.startsWith('libs/') ? 3 : 2)
    .join('/');
}

/** Returns the statements as they run, in the `queries.sql` of each library and program. */
export async function generateStatements(root: string): Promise<Generated> {
  const { rooms } = await readRooms(root);
  const files = rooms.map((room) => [`${room.path}/queries.sql`, renderRoom(room)]);
  return { files: Object.fromEntries(files) as Record<string, string> };
}

/** Returns the text of one queries.sql. */
function renderRoom({ path, statements, unnamed }: Room): string {
  const head =
    '-- The statements as they run. Made by `npm run generate`; change the modules that declare them.';
  const left = unnamed
    .sort()
    .map(
      (file) =>
        `-- Left out, because its text depends on the request: ${file.slice(path.length + 1)}`,
    );
  const texts = statements
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, text }) => `-- ${name}\n${text.trim()}`);
  return `${[[head, ...left].join('\n'), ...texts].join('\n\n')}\n`;
}

/** Folders without statements. A `name` in them belongs to a tool or the like. */
const WITHOUT_SQL = ['generated', 'testing', 'api-client', 'mcp'];

function sourcesIn(root: string, folder: string): Source[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      return WITHOUT_SQL.includes(entry.name) ? [] : sourcesIn(root, path);
    }
    if (!path.endsWith('.ts') || path.endsWith('spec.ts')) return [];
    return [{ path, text: readFileSync(join(root, path), 'utf8') }];
  });
}

/** The modules are compiled in dist, and sources under Jest, like this one. */
async function load(path: string): Promise<void> {
  const extension = extname(import.meta.filename);
  const file = join(import.meta.dirname, '../..', path.replace(/\.ts$/, extension));
  await import(pathToFileURL(file).href);
}

function filesByName(sources: readonly Source[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const { path, text } of sources) {
    for (const [, name = ''] of text.matchAll(NAME)) {
      files.set(name, [...(files.get(name) ?? []), path]);
    }
  }
  return files;
}

function declaringFile({ name }: Sql, files: Map<string, string[]>): string {
  const [file, ...more] = files.get(name) ?? [];
  if (file === undefined) throw new Error(`No file names the statement ${name} in full`);
  if (more.length > 0)
    throw new Error(`The statement ${name} is named in ${[file, ...more].join(' and ')}`);
  return file;
}
