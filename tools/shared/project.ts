import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this clone. This file runs from dist/tools/shared. */
export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/** @param path of a compiled program, below dist */
export function built(path: string): string {
  return join(projectRoot, 'dist', path);
}
