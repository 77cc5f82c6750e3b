// The Node that Drover runs on. On Linux with glibc it is one of the packages; other platforms use
// the Node of the machine.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { libc } from './libc.mjs';
import { root } from './sources.mjs';
import { Sentence } from './step.mjs';

/** The version of Node that Drover is made for. */
const MADE_FOR = [24, 0];
/** The oldest version for servers and workers, as in libs/platform/env/node. */
export const OLDEST = [22, 19];
/** The oldest version for clients, and for the first start of a clone. */
const OLDEST_OF_CLIENTS = [20, 19];

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** A variable that tells the other Node that its parent only waits for it. */
const HANDED_OVER = 'DROVER_HANDED_OVER';

/** Whether another process waits for this one, which does its work. */
export const wasHandedOver = process.env[HANDED_OVER] !== undefined;
delete process.env[HANDED_OVER];

function isAtLeast([major, minor]) {
  const [ourMajor, ourMinor] = process.versions.node.split('.').map(Number);
  return ourMajor > major || (ourMajor === major && ourMinor >= minor);
}

/** @throws Sentence if this Node is older */
export function requireNode(oldest = OLDEST_OF_CLIENTS) {
  if (isAtLeast(oldest)) return;
  const found = process.versions.node;
  throw new Sentence(
    `Drover needs Node ${oldest.join('.')} or later, and this is ${found}: install a newer Node.`,
  );
}

/**
 * The path of the Node that runs servers and workers of this clone.
 *
 * @throws Sentence if there is none
 */
export function nodeOfDrover() {
  if (isAtLeast(MADE_FOR)) return process.execPath;
  const packaged = join(root, 'node_modules', `node-${process.platform}-${process.arch}`);
  const program = join(packaged, 'bin', 'node');
  if (libc() === 'glibc' && existsSync(program)) return program;
  requireNode(OLDEST);
  return process.execPath;
}

/**
 * Starts this program again under the Node of Drover. This process then passes signals on and ends
 * as the other process does.
 */
export async function moveToNodeOfDrover() {
  const program = nodeOfDrover();
  if (program !== process.execPath) await handOver(program);
  if (isAtLeast(MADE_FOR)) return;
  const { node: found } = process.versions;
  process.stderr.write(`Drover is made for Node ${MADE_FOR[0]}. It runs on Node ${found} here.\n`);
}

function handOver(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, [HANDED_OVER]: '1' },
  });
  const passOn = (signal) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, passOn);
  return new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const one of SIGNALS) process.off(one, passOn);
      if (signal === null) process.exit(code);
      process.kill(process.pid, signal);
    });
  });
}
