// Generates the Prisma client and compiles every app, library and tool into dist/.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function run(script, args, env = {}) {
  const result = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (result.status !== 0) {
    process.stderr.write(result.stdout + result.stderr);
    process.exit(result.status ?? 1);
  }
}

// `generate` needs no schema engine, but the CLI insists on finding one and would download it:
// any executable satisfies the look-up.
run('node_modules/prisma/build/index.js', ['generate', '--no-hints'], {
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
  CHECKPOINT_DISABLE: '1',
});

run('node_modules/@nestjs/cli/bin/nest.js', ['build']);
