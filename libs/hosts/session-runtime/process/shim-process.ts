// Stands between a session and the process that ordered it: starts the session's first process,
// follows it, and writes down how it ended, whether or not the process that ordered it still lives. It
// leads a session of its own, so that neither Ctrl-C nor a signal to the group of that process reaches
// it. It ends when nothing of the session is left.
import { text } from 'node:stream/consumers';
import { Shim } from './shim.js';
import type { ShimOrder } from './shim-order.js';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// The listener may be gone.
process.stdout.on('error', () => {});

// Half an order is none: its author died meanwhile, and nothing was started.
const order = JSON.parse(await text(process.stdin)) as ShimOrder;
await new Shim(order, (answer) => {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}).run();
process.exit(0);
