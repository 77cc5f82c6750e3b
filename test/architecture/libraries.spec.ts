import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

function foldersIn(path: string): string[] {
  return readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

const groups = foldersIn('libs');
const libraries = groups.flatMap((group) =>
  foldersIn(`libs/${group}`).map((name) => ({ group, name, path: `libs/${group}/${name}` })),
);
const { imports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  imports: Record<string, string>;
};

describe('the groups of libraries', () => {
  it.each(groups)('the group %s has at most eight libraries', (group) => {
    expect(foldersIn(`libs/${group}`).length).toBeLessThanOrEqual(8);
  });

  it('no two libraries have the same name', () => {
    const names = libraries.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  it('imports of libraries follow package.json, each library by its name', () => {
    const entries = libraries.map(({ name, path }) => [`#lib/${name}`, `./dist/${path}/index.js`]);
    const whole = Object.entries(imports).filter(([name]) => /^#lib\/[^/]+$/.test(name));
    expect(Object.fromEntries(whole)).toEqual(Object.fromEntries(entries));
  });
});
