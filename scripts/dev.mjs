// `npm start`, which builds and restarts the server after every change of a source. It runs the
// compiled files, because bundles would make each build seconds longer.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureReady } from './ensure.mjs';
import { endWithParent } from './lib/end-with-parent.mjs';
import { root } from './lib/sources.mjs';

/** An editor writes a file in several steps, and a checkout writes many files. */
const QUIET_MS = 100;

endWithParent();
await ensureReady();
const stack = spawn(
  process.execPath,
  ['--conditions=unbundled', join(root, 'scripts', 'start.mjs'), ...process.argv.slice(2)],
  {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  },
);
stack.once('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
// Ctrl-C reaches both processes. The child ends, and this one with it.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => stack.kill('SIGTERM'));

// Node's own recursive watch loses a file that an editor has replaced.
const { watch } = await import('chokidar');
const folders = ['apps', 'libs', 'prisma'].map((folder) => join(root, folder));
let timer;
watch(folders, { ignoreInitial: true }).on('all', (_event, file) => {
  const isSource =
    /\.(tsx?|mjs|prisma|sql|html|css)$/.test(file) && !/spec\.ts$|generated/.test(file);
  if (!isSource) return;
  clearTimeout(timer);
  timer = setTimeout(rebuild, QUIET_MS);
});

/** A failed build is reported, and the running server continues. */
function rebuild() {
  const began = Date.now();
  const script = join(root, 'scripts', 'build.mjs');
  const { status } = spawnSync(process.execPath, [script, '--unbundled'], { stdio: 'inherit' });
  if (status !== 0) return;
  process.stdout.write(`built in ${Date.now() - began} ms; the server starts again\n`);
  if (stack.connected) stack.send('built');
}
