import { statSync } from 'node:fs';
import { join } from 'node:path';
import { listedFiles, number, partOf, runJob } from './support.js';

await runJob('sizes', (context) => {
  const files = listedFiles(context);
  const parts = new Map<string, number>();
  const sized = files.map((path) => ({ path, bytes: statSync(join(context.root, path)).size }));
  for (const { path, bytes } of sized)
    parts.set(partOf(path), (parts.get(partOf(path)) ?? 0) + bytes);
  const total = sized.reduce((sum, { bytes }) => sum + bytes, 0);
  const [first] = sized.sort((a, b) => b.bytes - a.bytes);
  return {
    summary: `${number(Math.round(total / 1e3))} kB, the largest file ${first?.path ?? ''}`,
    total,
    largest: sized.slice(0, 5),
    parts: [...parts].sort((a, b) => b[1] - a[1]).slice(0, 10),
  };
});
