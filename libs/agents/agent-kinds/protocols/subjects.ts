import { join, normalize, relative } from 'node:path/posix';

/**
 * The paths that a tool touches, each once: relative ones for files in the work folder. Without
 * paths, the title.
 */
export function subjectsOf(paths: readonly string[], title: string, workDir: string): string[] {
  const found = paths.filter((path) => path !== '').map((path) => placeOf(path, workDir));
  return found.length === 0 ? [title] : [...new Set(found)];
}

/** A path cannot hide its folder behind `..`. */
function placeOf(path: string, workDir: string): string {
  const whole = path.startsWith('/') ? normalize(path) : join(workDir, path);
  const within = relative(workDir, whole);
  return within === '' || within === '..' || within.startsWith('../') ? whole : within;
}
