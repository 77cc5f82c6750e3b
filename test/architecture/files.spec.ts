import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { importedFiles, readSources, type SourceFile } from './sources.js';

/**
 * Three rules tell a reader which file to open: for a statement, for an injectable class, at a
 * library's top level.
 */

const ROOT = join(import.meta.dirname, '../..');
const sources = readSources('apps', 'libs', 'tools');

/** Development tools and tests read their own databases. */
const isProduct = ({ path }: SourceFile) => !/^(tools|libs\/dev)\//.test(path);
const product = sources.filter(isProduct);

describe('a statement', () => {
  const SQL =
    /\b(?:SELECT|INSERT INTO|DELETE FROM|WHERE|CASE WHEN|ORDER BY|IS (?:NOT )?NULL|COALESCE|coalesce)\b|= ANY\b|\bUPDATE \w+(?: \w+)?\s+SET\b/;
  const withoutComments = (text: string) => text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*/g, '');
  /** Prisma's own calls are no statements of ours. */
  const withoutPrisma = (text: string) => text.replaceAll(/\$(?:executeRaw|queryRaw)`[^`]*`/g, '');
  /** The protocol of connections, and recovery patterns: a pattern is one file. */
  const HAS_ITS_OWN =
    /\/migrator\/|^libs\/platform\/database\/|^libs\/work\/coordinator\/patterns\//;
  const isStatements = (path: string) => path.endsWith('.sql.ts');
  // An index exports a statement to other libraries, which compose it into their own.
  const imports = product
    .filter(({ path }) => basename(path) !== 'index.ts')
    .map((source) => ({ path: source.path, imported: importedFiles(source) }));

  it('a statement is in a .sql.ts file', () => {
    const found = product
      .filter(({ path }) => !isStatements(path) && !HAS_ITS_OWN.test(path))
      .filter(({ text }) => SQL.test(withoutPrisma(withoutComments(text))));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  it('a statement is beside the code that runs it, or in store/ if several folders do', () => {
    const found = product.filter(({ path }) => isStatements(path) && !isInPlace(path));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  function isInPlace(path: string): boolean {
    const folders = foldersThatRun(path);
    if (folders.size > 1) return basename(dirname(path)) === 'store';
    return folders.size === 0 || folders.has(dirname(path));
  }

  /** Statements that are composed of it count, too. */
  function foldersThatRun(path: string, seen = new Set<string>()): Set<string> {
    seen.add(path);
    const importers = imports.filter(({ imported }) => imported.includes(path));
    const folders = importers.flatMap((importer) => {
      if (!isStatements(importer.path)) return [dirname(importer.path)];
      return seen.has(importer.path) ? [] : [...foldersThatRun(importer.path, seen)];
    });
    return new Set(folders);
  }
});

describe('the file of an injectable class', () => {
  const DECORATOR = /^@(?:Injectable|Controller|Module|Catch)\(/m;
  const CLASS = /^(?:export )?(?:abstract )?class (\w+)/gm;

  /** Decorators precede the class without an empty line. */
  function injectablesOf(text: string): string[] {
    return [...text.matchAll(CLASS)]
      .filter(({ index }) => DECORATOR.test(text.slice(text.lastIndexOf('\n\n', index), index)))
      .map(([, name = '']) => name);
  }

  it('the class names the file of an injectable class', () => {
    const found = sources
      .flatMap(({ path, text }) =>
        injectablesOf(text).map((name) => ({ path, file: fileOf(name) })),
      )
      .filter(({ path, file }) => basename(path) !== file)
      .map(({ path, file }) => `${path} should be ${file}`);
    expect(found).toEqual([]);
  });

  it.each([
    ['TaskCreation', 'task-creation.ts'],
    ['ProjectsService', 'projects.service.ts'],
    ['ApiKeysController', 'api-keys.controller.ts'],
    ['OIDCGuard', 'oidc.guard.ts'],
  ])('the class %s is in %s', (name, file) => expect(fileOf(name)).toBe(file));
});

const KIND = /-(controller|exception-filter|filter|guard|interceptor|module|service)$/;

function fileOf(className: string): string {
  const words = className.replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '-');
  return `${words.toLowerCase().replace(KIND, '.$1')}.ts`;
}

describe("a library's top level", () => {
  const libraries = readdirSync(join(ROOT, 'libs')).flatMap((group) =>
    readdirSync(join(ROOT, 'libs', group)).map((name) => `libs/${group}/${name}`),
  );
  const BELONGS = /^index\.ts$|\.module\.ts$|-spec\.ts$/;
  /** A library with this number of files needs no folders. */
  const FEW = 3;

  it("a library's top level has the index, the module and specs of the whole only", () => {
    const found = libraries.flatMap((library) => {
      const files = readdirSync(join(ROOT, library)).filter((name) => name.endsWith('.ts'));
      const loose = files.filter((name) => !BELONGS.test(name));
      const few = sources.filter(({ path }) => path.startsWith(`${library}/`)).length <= FEW + 2;
      return few ? [] : loose.map((name) => `${library}/${name}`);
    });
    expect(found).toEqual([]);
  });

  it('a library has an index and a README', () => {
    const wanted = libraries.flatMap((library) => [`${library}/index.ts`, `${library}/README.md`]);
    expect(wanted.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
