import { listedFiles, number, partOf, progress, readText, runJob } from './support.js';

const KINDS: [string, RegExp][] = [
  ['end-to-end', /\.e2e-spec\.ts$/],
  ['integration', /\.int-spec\.ts$/],
  ['unit', /\.spec\.ts$/],
];

await runJob('tests', (context) => {
  const files = listedFiles(context).filter((path) => path.endsWith('spec.ts'));
  const kinds: Record<string, number> = {};
  const parts: Record<string, number> = {};
  files.forEach((path, index) => {
    if (index % 20 === 0) progress(index, files.length, path);
    const cases = readText(context, path).match(/^[ \t]*(it|test)(\.each\b.*)?\(/gm)?.length ?? 0;
    const kind = KINDS.find(([, pattern]) => pattern.test(path))?.[0] ?? 'other';
    kinds[kind] = (kinds[kind] ?? 0) + cases;
    parts[partOf(path)] = (parts[partOf(path)] ?? 0) + cases;
  });
  const total = Object.values(kinds).reduce((sum, cases) => sum + cases, 0);
  return { summary: `${number(total)} test cases in ${files.length} files`, total, kinds, parts };
});
