import { readFileSync } from 'node:fs';

/** The project's version. The built server lies one folder deeper than its source. */
export function readVersion(): string {
  for (const place of ['../../package.json', '../../../package.json']) {
    try {
      const text = readFileSync(new URL(place, import.meta.url), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return '0.0.0';
}
