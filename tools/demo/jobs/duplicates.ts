import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { number, runJob } from './support.js';

interface Digest {
  path: string;
  sha256: string;
  bytes: number;
}

await runJob('duplicates', ({ shared }) => {
  const digests = JSON.parse(readFileSync(join(shared, 'hash.all.json'), 'utf8')) as Digest[];
  const groups = new Map<string, Digest[]>();
  for (const digest of digests.filter(({ bytes }) => bytes > 0)) {
    groups.set(digest.sha256, [...(groups.get(digest.sha256) ?? []), digest]);
  }
  const repeated = [...groups.values()].filter((group) => group.length > 1);
  const waste = (group: Digest[]): number => (group.length - 1) * (group[0]?.bytes ?? 0);
  const wasted = repeated.reduce((sum, group) => sum + waste(group), 0);
  const worst = repeated
    .sort((a, b) => waste(b) - waste(a))
    .slice(0, 5)
    .map((group) => ({ copies: group.length, bytes: group[0]?.bytes, path: group[0]?.path }));
  return {
    summary: `${number(repeated.length)} contents more than once, ${number(Math.round(wasted / 1e3))} kB too much`,
    wasted,
    worst,
  };
});
