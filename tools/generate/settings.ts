import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { variables as server } from '#lib/config';
import { environment as gateway } from '../../apps/gateway/config.js';
import { environment as worker } from '../../apps/worker/config.js';
import { aligned } from '../shared/table.js';
import type { Generated } from './generated.js';

/** A program with the schema of its settings and the files that declare them. */
interface Program {
  title: string;
  schema: z.ZodObject;
  sources: string[];
}

const NAMES = 'libs/platform/env/known-settings.ts';

/** Settings that worker and gateway share. */
const SHARED = ['isolation', 'limit-settings'].map(
  (name) => `libs/hosts/agent-host/machine/${name}.ts`,
);

const PROGRAMS: Program[] = [
  {
    title: 'Server',
    schema: server,
    sources: ['libs/platform/config/config.ts'],
  },
  {
    title: 'Worker',
    schema: worker,
    sources: ['apps/worker/config.ts', ...SHARED],
  },
  {
    title: 'Gateway',
    schema: gateway,
    sources: ['apps/gateway/config.ts', ...SHARED],
  },
];

const HEAD = `# Settings

Programs read their settings from the environment. An empty variable counts as not set. If a value is wrong,
the program names the setting and the accepted values, and exits. It warns of variables that look like
misspelt settings, with the nearest name.

Each setting can come from a file: add \`_FILE\` to its name. Give secrets as files, because other processes of
the user can read an environment. Worker and gateway also have the [settings of both](#worker-and-gateway).

\`npx @drover/server up\` sets the required settings and passes on the others. It reads \`PORT\` and
\`DROVER_HOME\`, the folder of its data (\`.drover\` of your home folder; \`npm start\`: of the clone).
\`npm run generate\` writes this page from the sources; change them there.
`;

/** An impossible value of every setting. The error of its schema names the allowed values. */
const IMPOSSIBLE = '\u0000';

interface Row {
  name: string;
  required: string;
  fallback: string;
  takes: string;
  about: string;
}

/**
 * Returns docs/settings.md, the settings of all programs, and their names for the library `env`.
 *
 * @param root the folder of the project, with the sources
 * @throws Error if a setting has no comment
 */
export function generateSettings(root: string): Generated {
  const [serverRows = [], ...others] = PROGRAMS.map((program) => rowsOf(root, program));
  const shared = others.reduce((all, rows) => all.filter((row) => hasRow(rows, row)));
  const own = others.map((rows) => rows.filter((row) => !hasRow(shared, row)));
  const tables = [serverRows, ...own].map((rows, n) => section(PROGRAMS[n]?.title ?? '', rows));
  const sections = [...tables, section('Worker and gateway', shared)];
  return {
    files: { 'docs/settings.md': [HEAD, ...sections].join('\n'), [NAMES]: namesOf(PROGRAMS) },
  };
}

/** The names of all settings, with which a program recognises a misspelt one. */
function namesOf(programs: Program[]): string {
  const names = new Set(programs.flatMap(({ schema }) => Object.keys(schema.shape)));
  const lines = [...names].toSorted().map((name) => `  '${name}',`);
  const banner = '// Written by `npm run generate` from the settings of all programs.\n';
  return `${banner}export const SETTINGS: readonly string[] = [\n${lines.join('\n')}\n];\n`;
}

/** Whether the rows contain one with the same values. */
function hasRow(rows: Row[], row: Row): boolean {
  return rows.some((one) => JSON.stringify(one) === JSON.stringify(row));
}

function rowsOf(root: string, { schema, sources }: Program): Row[] {
  const text = sources.map((source) => readFileSync(join(root, source), 'utf8')).join('\n');
  return Object.entries(schema.shape).map(([name, setting]) => {
    const about = commentOf(name, text);
    if (about === undefined) throw new Error(`${name} has no comment in ${sources.join(', ')}`);
    return rowOf(name, setting as z.ZodType, about);
  });
}

/** A required setting has the word as its default. */
function section(title: string, rows: Row[]): string {
  const cells = rows.map(({ name, required, fallback, takes, about }) => [
    `\`${name}\``,
    required || fallback,
    takes,
    about,
  ]);
  const table = aligned([['variable', 'default', 'accepts', 'meaning'], ...cells]);
  return `## ${title}\n\n${table}`;
}

function rowOf(name: string, setting: z.ZodType, about: string): Row {
  const left = setting.safeParse(undefined);
  const refusal = setting.safeParse(IMPOSSIBLE).error?.issues[0]?.message ?? '';
  return {
    name,
    required: left.success ? '' : '**required**',
    fallback: left.success ? shown(left.data) : '',
    takes: refusal.replace(/^must (be|have|hold) /, '').replaceAll('|', '\\|'),
    about: about.replaceAll('|', '\\|'),
  };
}

function shown(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0) || value === '')
    return '';
  return value === hostname() ? 'host name' : `\`${String(value)}\``;
}

/** Returns the comment before a setting, on one line. */
function commentOf(name: string, source: string): string | undefined {
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*${name}:`).exec(source)?.[1];
  return comment
    ?.split('\n')
    .map((line) => line.trim().replace(/^\* ?/, ''))
    .join(' ')
    .trim();
}
