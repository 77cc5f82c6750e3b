import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { EXIT_RULES } from '../../libs/platform/kernel/errors/exit-classes.js';
import { RUN_EDGES } from '../../libs/work/transitions/domain/run-state.js';
import { TASK_EDGES } from '../../libs/work/transitions/domain/task-state.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/task-lifecycle.md'), 'utf8');

/** Returns the arrows of the n-th diagram of the page, without its start and its end. */
function arrows(n: number): string[] {
  const diagram = page.split('```mermaid')[n]?.split('```')[0] ?? '';
  return diagram
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.includes('-->') && !line.includes('[*]'))
    .sort();
}

function edges(table: Record<string, readonly string[]>): string[] {
  return Object.entries(table)
    .flatMap(([from, tos]) => tos.map((to) => `${from} --> ${to}`))
    .sort();
}

describe('docs/task-lifecycle.md', () => {
  it('docs/task-lifecycle.md shows the edges of a task as the program has them', () => {
    expect(arrows(1)).toEqual(edges(TASK_EDGES));
  });

  it('docs/task-lifecycle.md shows the edges of a run as the program has them', () => {
    expect(arrows(2)).toEqual(edges(RUN_EDGES));
  });

  it('docs/task-lifecycle.md shows the classes of ends as the program has them, in its order', () => {
    const [, section = ''] = page.split('## How a process ends');
    const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]+)\| `(\w+)` /gm)];
    expect(rows.map(([, evidence = '', of]) => [evidence.trim(), of])).toEqual(
      EXIT_RULES.map((rule) => [rule.evidence, rule.class]),
    );
  });

  it('docs/task-lifecycle.md explains each status', () => {
    for (const status of Object.keys(TASK_EDGES))
      expect(page).toMatch(new RegExp(`\\| ${status} +\\| \\w`));
  });
});
