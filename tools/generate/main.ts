import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#lib/kernel';
import type { Generated } from './generated.js';

// Writes the committed files that are generated from the sources, or compares them with `--check`.
// Arguments name parts; the default is all. Each problem is a line, and any problem is a failure.

const PARTS: Record<string, () => Promise<Generated>> = {
  sql: async () => (await import('./statements.js')).generateStatements(projectRoot),
  settings: async () => (await import('./settings.js')).generateSettings(projectRoot),
  events: async () => (await import('./events.js')).generateEvents(projectRoot),
  seeds: async () => (await import('./seeds.js')).generateSeeds(),
  openapi: async () => (await import('./openapi.js')).generateOpenApi(),
};

const { check, parts } = readArguments(process.argv.slice(2));
const problems: string[] = [];
for (const part of parts) {
  const { files, problems: found = [] } = (await PARTS[part]?.()) ?? { files: {} };
  problems.push(...found);
  for (const [path, text] of Object.entries(files)) {
    if (!check) writeFileSync(join(projectRoot, path), text);
    else if (!isCurrent(path, text)) problems.push(`${path} is stale: run npm run generate`);
  }
}
for (const problem of problems) console.error(problem);
// The application that produced the document would keep the process alive.
process.exit(problems.length === 0 ? 0 : 1);

function readArguments(words: string[]): { check: boolean; parts: string[] } {
  const named = words.filter((word) => word !== '--check');
  const unknown = named.filter((part) => !(part in PARTS));
  if (unknown.length > 0) {
    console.error(
      `npm run generate knows ${Object.keys(PARTS).join(', ')} and client, not ${unknown[0]}`,
    );
    process.exit(1);
  }
  return { check: words.includes('--check'), parts: named.length > 0 ? named : Object.keys(PARTS) };
}

function isCurrent(path: string, text: string): boolean {
  const file = join(projectRoot, path);
  return existsSync(file) && readFileSync(file, 'utf8') === text;
}
