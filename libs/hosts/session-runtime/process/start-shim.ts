import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ShimAnswer, ShimOrder } from './shim-order.js';

export const SHIM = fileURLToPath(import.meta.resolve('#program/shim'));
/** A helper process holds a few lines: a small heap keeps it small beside the sessions. */
export const SMALL_HEAP = ['--max-old-space-size=32', '--max-semi-space-size=1'];

export interface StartedShim {
  /** Undefined if the shim ended without an answer. */
  answer: ShimAnswer | undefined;
  /** Resolves when the shim has ended. */
  over: Promise<unknown>;
}

/** Starts a shim from a compiled script and gives it its order. */
export async function startShim(
  order: ShimOrder,
  script: string,
  env: Record<string, string> = {},
): Promise<StartedShim> {
  const child = spawn(process.execPath, [...SMALL_HEAP, script], {
    cwd: '/',
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const over = new Promise((resolve) => child.once('exit', resolve));
  await once(child, 'spawn');
  const { stdin, stdout } = child;
  for (const one of [child, stdin]) one.on('error', () => undefined);
  stdin.end(JSON.stringify(order));
  try {
    for await (const line of createInterface({ input: stdout })) {
      return { answer: JSON.parse(line) as ShimAnswer, over };
    }
    return { answer: undefined, over };
  } finally {
    stdout.destroy();
  }
}
