import { expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const shown = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/\b(?:docs\/)?pictures\/[\w.-]+/g)].map(
    ([path]) => join(dirname(page), path),
  ),
);

it('each picture that a page shows is there, and each that is there is shown', () => {
  expect(shown.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const taken = readdirSync(join(root, 'docs/pictures')).map((name) => join('docs/pictures', name));
  expect(taken.filter((path) => !shown.includes(path))).toEqual([]);
});
