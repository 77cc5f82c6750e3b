import { join } from 'node:path';
import { findBubblewrap } from '#lib/embedded';
import type { Sandbox } from '../sandbox/sandbox.js';
import { whyNoSandbox } from '../sandbox/open-sandbox.js';

const INNER = join(import.meta.dirname, '../../../dist/libs/runtime/sandbox/inner-process.js');

/** A sandbox with the compiled first process; undefined where this machine lets nobody make one. */
export async function testSandbox(more: Partial<Sandbox> = {}): Promise<Sandbox | undefined> {
  const sandbox: Sandbox = {
    ...{ program: await findBubblewrap(), inner: INNER },
    ...{ hidden: [], shown: [], network: 'on', memoryMb: 0, processes: 0 },
    ...more,
  };
  const why = await whyNoSandbox(sandbox);
  if (why !== undefined) process.stderr.write(`No sandbox: ${why}\n`);
  return why === undefined ? sandbox : undefined;
}
