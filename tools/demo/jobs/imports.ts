import { listedFiles, progress, readText, runJob, tally } from './support.js';

/** Returns the cycle that can be reached from a library, or undefined. */
function cycleFrom(start: string, edges: Map<string, Set<string>>): string[] | undefined {
  const seen = new Set<string>();
  const follow = (path: string[]): string[] | undefined => {
    for (const next of edges.get(path.at(-1) ?? '') ?? []) {
      if (next === start) return [...path, start];
      if (seen.has(next)) continue;
      seen.add(next);
      const cycle = follow([...path, next]);
      if (cycle) return cycle;
    }
    return undefined;
  };
  return follow([start]);
}

await runJob('imports', (context) => {
  const files = listedFiles(context).filter((path) => /^libs\/.*\.ts$/.test(path));
  const edges = new Map<string, Set<string>>();
  const used: string[] = [];
  files.forEach((path, index) => {
    if (index % 50 === 0) progress(index, files.length, path);
    if (/spec\.ts$|\/testing\//.test(path)) return;
    const library = path.split('/')[1] ?? '';
    const targets = edges.get(library) ?? new Set<string>();
    for (const [, target = ''] of readText(context, path).matchAll(/from '#lib\/([\w-]+)'/g)) {
      used.push(target);
      if (target !== library) targets.add(target);
    }
    edges.set(library, targets);
  });
  const cycles = [...edges.keys()].flatMap((library) => {
    const cycle = cycleFrom(library, edges);
    return cycle ? [cycle.join(' -> ')] : [];
  });
  const arrows = [...edges.values()].reduce((sum, targets) => sum + targets.size, 0);
  return {
    summary: `${edges.size} libraries, ${arrows} arrows between them, ${cycles.length} cycles`,
    mostUsed: tally(used).slice(0, 5),
    cycles,
  };
});
