// Joins the other jobs' findings in one page.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JobContext, type JobResult, number, resultOf, runJob } from './support.js';

interface Lines {
  languages: Record<string, { files: number; lines: number }>;
}
interface Functions {
  longest: { name: string; path: string; line: number; lines: number }[];
}
interface Duplicates {
  worst: { copies: number; bytes: number; path: string }[];
}

const CHAPTERS: [string, string][] = [
  ['list', 'Files'],
  ['sizes', 'Size'],
  ['lines', 'Lines'],
  ['functions', 'Functions'],
  ['tests', 'Tests'],
  ['imports', 'Libraries'],
  ['links', 'Documentation'],
  ['types-kernel', 'Types'],
  ['types-local-servers', 'Types'],
  ['licences', 'Packages'],
  ['hash', 'Hashes'],
  ['duplicates', 'Duplicates'],
  ['archive', 'Archive'],
  ['verify', 'Archive, verified'],
];

function overview(context: JobContext): string[] {
  return CHAPTERS.map(([name, title]) => {
    const { summary } = resultOf<JobResult>(context, name);
    return `${`${title}:`.padEnd(19)}${summary}`;
  });
}

function languages(context: JobContext): string[] {
  const entries = Object.entries(resultOf<Lines>(context, 'lines').languages);
  return entries
    .sort((a, b) => b[1].lines - a[1].lines)
    .map(
      ([name, { files, lines }]) => `${name.padEnd(19)}${number(lines).padStart(8)} in ${files}`,
    );
}

function longest(context: JobContext): string[] {
  return resultOf<Functions>(context, 'functions').longest.map(
    ({ name, path, line, lines }) =>
      `${String(lines).padStart(4)} lines  ${name} (${path}:${line})`,
  );
}

function licences(context: JobContext): string[] {
  const counts = resultOf<{ licences: [string, number][] }>(context, 'licences').licences;
  return [
    counts
      .map(([name, count]) => `${name} ${count}`)
      .slice(0, 8)
      .join(', '),
  ];
}

function duplicates(context: JobContext): string[] {
  return resultOf<Duplicates>(context, 'duplicates').worst.map(
    ({ copies, bytes, path }) => `${copies} times ${number(bytes)} bytes: ${path}`,
  );
}

await runJob('report', (context) => {
  const chapters: [string, string[]][] = [
    ['What there is', overview(context)],
    ['Lines by language', languages(context)],
    ['The longest functions', longest(context)],
    ['Licences of the packages', licences(context)],
    ['The largest duplicates', duplicates(context)],
  ];
  const text = chapters
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [title, ...lines.map((line) => `  ${line}`)].join('\n'))
    .join('\n\n');
  writeFileSync(join(context.shared, 'report.txt'), `${text}\n`);
  return { summary: `${CHAPTERS.length} results joined in one report`, text };
});
