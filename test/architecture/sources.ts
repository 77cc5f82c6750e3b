import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface SourceFile {
  /** The path relative to the project's folder. */
  path: string;
  text: string;
}

/** Returns the sources of the folders without their tests, generated files and the dashboard. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `${folder}/${path}`,
      ),
    )
    .filter((path) => path.endsWith('.ts') && !path.endsWith('spec.ts'))
    .filter((path) => !/\/(generated|testing)\/|^apps\/dashboard\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** Returns the files of the same library or program from which a file imports values. */
export function importedFiles({ path, text }: SourceFile): string[] {
  return [...text.matchAll(IMPORT)]
    .filter(([, names = '']) => importsValues(names))
    .map(([, , from = '']) => normalize(join(dirname(path), from.replace(/\.js$/, '.ts'))));
}

const IMPORT = /(?:^|\n)(?:im|ex)port ([^;']*?) ?from '(\.[^']*)'/g;

function importsValues(names: string): boolean {
  if (names.startsWith('type ')) return false;
  const listed = /^\{([^]*)\}$/.exec(names)?.[1];
  if (listed === undefined) return true;
  return listed.split(',').some((name) => name.trim() !== '' && !name.trim().startsWith('type '));
}
