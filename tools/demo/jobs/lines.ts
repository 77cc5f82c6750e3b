import { extname } from 'node:path';
import { listedFiles, number, progress, readText, runJob } from './support.js';

const LANGUAGES: Record<string, string> = {
  '.ts': 'TypeScript',
  '.mjs': 'JavaScript',
  '.js': 'JavaScript',
  '.cjs': 'JavaScript',
  '.sql': 'SQL',
  '.prisma': 'Prisma',
  '.md': 'Markdown',
  '.json': 'JSON',
  '.yml': 'YAML',
  '.yaml': 'YAML',
  '.html': 'HTML',
  '.css': 'CSS',
};

interface Count {
  files: number;
  lines: number;
  blank: number;
}

function languageOf(path: string): string {
  if (/(-spec|\.spec)\.ts$/.test(path)) return 'TypeScript (tests)';
  return LANGUAGES[extname(path)] ?? 'other';
}

function count(text: string): { lines: number; blank: number } {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return { lines: lines.length, blank: lines.filter((line) => line.trim() === '').length };
}

await runJob('lines', (context) => {
  const files = listedFiles(context);
  const languages: Record<string, Count> = {};
  files.forEach((path, index) => {
    const entry = (languages[languageOf(path)] ??= { files: 0, lines: 0, blank: 0 });
    const { lines, blank } = count(readText(context, path));
    entry.files += 1;
    entry.lines += lines;
    entry.blank += blank;
    if (index % 50 === 0) progress(index, files.length, path);
  });
  const total = Object.values(languages).reduce((sum, { lines }) => sum + lines, 0);
  return { summary: `${number(total)} lines in ${files.length} files`, total, languages };
});
