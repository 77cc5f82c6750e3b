import { afterAll, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedServer } from '../support/shared-server.js';
import { readRoutes } from '../api/support/openapi.js';

/** Every route that a page names exists. */

const root = join(import.meta.dirname, '../..');
const app = await sharedServer();
const routes = (await readRoutes(app.url)).map(({ name }) => comparable(name));

afterAll(() => app.stop());

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
  ...['apps', 'libs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('README.md'))
      .map((file) => `${folder}/${file}`),
  ),
];

/** The gateway has its own server. */
const OF_THE_GATEWAY = /^\w+ \/api\/(?!v1\/)/;

/** Parameters are `:id` on pages and `{id}` in the document; their names do not matter. */
function comparable(route: string): string {
  return route
    .replace('/api/v1', '')
    .replace(/\{\w+\}|:\w+/g, ':id')
    .replace(/[?#].*/, '');
}

it.each(pages)('the page %s names only existing routes', (page) => {
  const named = [
    ...readFileSync(join(root, page), 'utf8').matchAll(
      /\b(?:GET|POST|PUT|PATCH|DELETE) \/[\w/:{}.-]+/g,
    ),
  ]
    .map(([route]) => route.replace(/\.$/, ''))
    .filter((route) => !OF_THE_GATEWAY.test(route));
  const missing = named.filter((route) => !isThere(comparable(route)));
  expect(missing).toEqual([]);
});

/** A page may shorten a family of routes to its beginning: `/runs/:runId/…`, `/gateway/`. */
function isThere(route: string): boolean {
  if (routes.includes(route)) return true;
  return route.endsWith('/') && routes.some((known) => known.startsWith(route));
}
