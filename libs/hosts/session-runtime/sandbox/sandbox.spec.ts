import { expect, test } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NO_LIMITS } from './limits.js';
import { sandboxLaunch } from './sandbox.js';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** Root can open everything, so the test runs as another user for a while. */
function asOrdinaryUser<T>(work: () => T): T {
  if (!isRoot) return work();
  process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

function argumentsFor(searchPath: string): string[] {
  const { args } = sandboxLaunch(
    {
      program: { file: '/bin/sh', env: {} },
      hidden: [],
      shown: [],
      network: 'host',
      allowedHosts: [],
      privateHosts: [],
      limits: NO_LIMITS,
      maxLimits: NO_LIMITS,
    },
    { dir: '/d', root: '/d/id', launch: '/d/id/l', tmp: '/d/id/t', searchPath },
  );
  return args;
}

test('a sandbox shows folders of programs, and skips unreadable ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-path-'));
  const [open, closed] = [join(folder, 'open/bin'), join(folder, 'closed/bin')];
  for (const path of [open, closed]) mkdirSync(path, { recursive: true });
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'closed'), 0);
  const args = asOrdinaryUser(() => argumentsFor(`${open}:${closed}:${folder}/none`));
  chmodSync(join(folder, 'closed'), 0o700);
  rmSync(folder, { recursive: true });
  expect(args).toContain(open);
  expect(args).not.toContain(closed);
  expect(args).not.toContain(`${folder}/none`);
});
