import type { components } from '#lib/api-client';

export type Change = components['schemas']['Change'];
export type WholeChange = components['schemas']['WholeChange'];
export type ChangeReview = components['schemas']['ChangeReview'];
export type ChangeComment = components['schemas']['ChangeComment'];
export type ChangeState = Change['state'];

/** The groups of the list, in the order in which people need them. */
export const CHANGE_GROUPS = [
  { state: 'IN_REVIEW', title: 'Needs review' },
  { state: 'APPROVED', title: 'Approved' },
  { state: 'PROVING', title: 'Running acceptance' },
  { state: 'WORKING', title: 'Agent at work' },
  { state: 'FAILED', title: 'Failed' },
  { state: 'MERGED', title: 'Merged' },
  { state: 'CLOSED', title: 'Closed' },
] as const satisfies { state: ChangeState; title: string }[];

/** Reads the group that an address names. */
export function parseGroup({ state }: Record<string, unknown>): { state?: ChangeState } {
  const known = CHANGE_GROUPS.find((group) => group.state === state);
  return known === undefined ? {} : { state: known.state };
}

/** A comment at the line of a file. `side` is that of the change. */
export interface LineComment {
  path: string;
  line: number;
  side: 'before' | 'after';
  text: string;
}

/** The language of a file for its colours, by the end of its name. */
export function languageOf(path: string): string | undefined {
  const end = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase();
  return end === undefined ? undefined : (LANGUAGES[end] ?? undefined);
}

const LANGUAGES: Record<string, string> = {
  c: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  cs: 'csharp',
  css: 'css',
  go: 'go',
  h: 'c',
  html: 'markup',
  java: 'java',
  js: 'javascript',
  json: 'json',
  jsx: 'javascript',
  kt: 'kotlin',
  md: 'markdown',
  mjs: 'javascript',
  php: 'php',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  scss: 'scss',
  sh: 'bash',
  sql: 'sql',
  swift: 'swift',
  ts: 'typescript',
  tsx: 'typescript',
  xml: 'markup',
  yaml: 'yaml',
  yml: 'yaml',
};

/** The first characters of a commit's id. */
export function shortCommit(commit: string | null): string | null {
  return commit === null ? null : commit.slice(0, 10);
}
