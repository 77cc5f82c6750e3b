import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readRooms, type Room, roomOfFile, type Source } from '../../tools/generate/statements.js';
import { TABLES } from './table-owners.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { rooms, sources } = await readRooms(ROOT);

describe('the rendered SQL', () => {
  it('the rendered SQL covers every library and program', () => {
    const committed = ['libs', 'apps']
      .flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
          (path) => `${folder}/${path}`,
        ),
      )
      .filter((path) => path.endsWith('/queries.sql'));
    expect(committed.map((path) => path.replace('/queries.sql', '')).sort()).toEqual(
      rooms.map(({ path }) => path).sort(),
    );
  });

  it('statements are named like their constants, with an optional prefix', () => {
    const named = sources.flatMap(({ text }) =>
      [...text.matchAll(CONSTANT)].map(([, constant = '', name = '']) => ({ constant, name })),
    );
    expect(named.length).toBeGreaterThan(180);
    const other = named.filter(({ constant, name }) => {
      return !`_${name}`.endsWith(`_${snakeCase(constant.replace(/Sql$/, ''))}`);
    });
    expect(other).toEqual([]);
  });
});

const CONSTANT = /\bconst (\w+) = (?:query|command|hotCommand|lostRuns)(?:<[^()]*>)?\(\s*'(\w+)'/g;
const snakeCase = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The rules of dependency-cruiser define which library is above which. */
const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  forbidden: { name: string; from: { path: string }; to: { path: string } }[];
};
const upward = forbidden.filter(({ name }) => name.startsWith('no-upward-arrow-from-'));

function liesAbove(path: string, library: string): boolean {
  return upward.some(
    ({ from, to }) =>
      new RegExp(from.path).test(`${path}/`) && new RegExp(to.path).test(`libs/group/${library}/`),
  );
}

interface Mention {
  /** The folder of the library or program. */
  room: string;
  /** The name of the statement, or the file. */
  where: string;
  table: string;
  /** The CTE that contains a write, or ''. */
  writtenIn?: string;
}

const WRITE =
  /(?:\b(\w+) AS (?:MATERIALIZED )?\(\s*)?(?:INSERT INTO|DELETE FROM|(?<!FOR |KEY |DO )\bUPDATE) (\w+)/g;
const SPELLED = /\b(?:FROM|JOIN) (\w+)/g;
const DELEGATE = /\.(\w+)\.(find|count|aggregate|groupBy|create|update|upsert|delete)\w*\(/g;

/** Maps Prisma's name to each table. */
const models = new Map(
  read('prisma/schema.prisma')
    .split('\nmodel ')
    .slice(1)
    .map((model) => {
      const [name = '', table = ''] = [/^\w+/, /(?<=@@map\(")\w+/].map(
        (part) => part.exec(model)?.[0],
      );
      return [name.charAt(0).toLowerCase() + name.slice(1), table];
    }),
);

/** Returns every table that a statement names as it runs. */
function inStatements({ path: room, statements }: Room): Mention[] {
  return statements.flatMap(({ name: where, text }) => {
    const bare = withoutComments(text).replaceAll(/'[^']*'/g, "''");
    const words = [...new Set(bare.split(/[^\w.]+/))].map((table) => ({ room, where, table }));
    return [...words, ...writes(bare, { room, where })].filter(isOfTable);
  });
}

/**
 * Returns the tables that a file names by itself, in SQL or through Prisma, even outside of named
 * statements.
 */
function inSource({ path: where, text }: Source): Mention[] {
  const room = roomOfFile(where);
  const reads = [...text.matchAll(SPELLED)].map(([, table = '']) => ({ room, where, table }));
  const calls = [...text.matchAll(DELEGATE)].map(([, model = '', call = '']) => {
    const mention = { room, where, table: models.get(model) ?? '' };
    return /^(?:create|update|upsert|delete)/.test(call) ? { ...mention, writtenIn: '' } : mention;
  });
  return [...reads, ...calls, ...writes(withoutComments(text), { room, where })].filter(isOfTable);
}

function writes(text: string, place: Pick<Mention, 'room' | 'where'>): Mention[] {
  return [...text.matchAll(WRITE)].map(([, writtenIn = '', table = '']) => {
    return { ...place, table, writtenIn };
  });
}

const withoutComments = (text: string) => text.replaceAll(/--.*/g, '');
const isOfTable = ({ table }: Mention) => table in TABLES;
const shown = ({ room, where, table }: Mention) => `${room}: ${where} ${table}`;
const ownerOf = (table: string) => TABLES[table]?.owner ?? '';

function namedFromBelow(mentions: readonly Mention[]): string[] {
  return mentions.filter(({ room, table }) => liesAbove(room, ownerOf(table))).map(shown);
}

function writtenByOthers(mentions: readonly Mention[]): Mention[] {
  return mentions.filter(({ room, table, writtenIn }) => {
    return writtenIn !== undefined && basename(room) !== ownerOf(table);
  });
}

/** Contains `journalRow` and `logLine`, parts of other libraries' statements. */
const FRAGMENTS = 'libs/work/transitions/store/journal.sql.ts';

/** Finds writes that their library neither spells nor can use as a CTE of another library. */
function unspelled(mentions: readonly Mention[]): Mention[] {
  const isSpelled = ({ room, table, writtenIn }: Mention) =>
    spelled.some((other) => {
      const isFragment = other.where === FRAGMENTS;
      if (other.table !== table || (!isFragment && other.writtenIn !== writtenIn)) return false;
      const isPart = isFragment || writtenIn !== '';
      const usable = isPart && !liesAbove(room, basename(other.room));
      return other.room === room || usable;
    });
  return writtenByOthers(mentions).filter((mention) => !isSpelled(mention));
}

const running = rooms.flatMap(inStatements);
const spelled = sources.flatMap(inSource);

describe('the owner of a table', () => {
  it('the list of owners has each table and view', () => {
    expect(Object.keys(TABLES).sort()).toEqual([...models.values(), 'agent_task_logs'].sort());
  });

  it('no library below the owner names its table', () => {
    expect(namedFromBelow([...running, ...spelled])).toEqual([]);
  });

  it('only the owner writes a table, except for writers with a reason', () => {
    const others = writtenByOthers(spelled).map(({ room, table }) => `${basename(room)} ${table}`);
    const granted = Object.entries(TABLES).flatMap(([table, { others: named = {} }]) =>
      Object.keys(named).map((library) => `${library} ${table}`),
    );
    expect([...new Set(others)].sort()).toEqual(granted.sort());
  });

  // A library that composes its statement with another library's CTE does not write: the CTE
  // belongs to the other.
  it('no statement writes a table that its source does not name', () => {
    expect(unspelled(running).map(shown)).toEqual([]);
  });
});

describe('the search for owners', () => {
  const statement = (text: string): Mention[] =>
    inStatements({
      path: 'libs/access/identity',
      statements: [{ name: 'intruder', text, kind: 'query' }],
      unnamed: [],
    });
  const source = (text: string): Mention[] =>
    inSource({ path: 'libs/access/identity/intruder.ts', text });

  it.each([
    ['a join', statement('SELECT FROM users u, agents a')],
    ['a read that is only spelled', source('`SELECT 1 FROM agents`')],
    ['a read through Prisma', source('tx.agent.findMany({})')],
  ])('the search finds %s in a library below', (_, mentions) => {
    expect(namedFromBelow(mentions)).toHaveLength(1);
  });

  it.each([
    ['an insert', source('`INSERT INTO projects (id) VALUES ($1)`')],
    ['an update', source('`UPDATE projects p SET name = $1`')],
    ['a removal', source('`DELETE FROM projects`')],
    ['a write through Prisma', source('tx.project.updateMany({})')],
    ['a write as it runs', statement('WITH x AS (UPDATE projects SET name = $1) SELECT 1')],
  ])('the search finds %s of another library than the owner', (_, mentions) => {
    expect(writtenByOthers(mentions)).toHaveLength(1);
  });

  it.each(['UPDATE agents SET name = $1', 'WITH x AS (\n  DELETE FROM agents) SELECT 1'])(
    'the search finds a composed write: %s',
    (text) => expect(unspelled(statement(text))).toHaveLength(1),
  );

  it.each(['SELECT 1 FROM projects FOR NO KEY UPDATE', 'SELECT 1 FROM projects p FOR UPDATE OF p'])(
    'the search takes no lock for a write: %s',
    (text) => expect(writtenByOthers([...statement(text), ...source(text)])).toEqual([]),
  );
});
