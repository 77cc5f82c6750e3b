import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { number, progress, runJob, tally } from './support.js';

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}

/** Reads the licence from the installed package if the lock file has none. */
function licenceOf(root: string, path: string, locked: Locked): string {
  if (locked.license) return locked.license;
  const manifest = join(root, path, 'package.json');
  if (!existsSync(manifest)) return '(not installed here)';
  const { license } = JSON.parse(readFileSync(manifest, 'utf8')) as { license?: unknown };
  return typeof license === 'string' ? license : '(unstated)';
}

await runJob('licences', ({ root }) => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const packages = Object.entries(lock.packages).filter(([path, { link }]) => path !== '' && !link);
  const licences = packages.map(([path, locked], index) => {
    if (index % 100 === 0) progress(index, packages.length, path);
    return licenceOf(root, path, locked);
  });
  const shipped = packages.filter(([, locked]) => !locked.dev).length;
  const counts = tally(licences);
  return {
    summary: `${number(packages.length)} packages (${shipped} at run time) under ${counts.length} licences`,
    packages: packages.length,
    shipped,
    licences: counts,
  };
});
