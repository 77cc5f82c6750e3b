// Stands between a session and the process that ordered it. It starts the session's first process,
// follows it, and writes its end, even if the process that ordered it is gone. It leads its own
// session, so neither Ctrl-C nor a signal to the group of that process reaches it. It ends when no
// process of the session is left.
import { text } from 'node:stream/consumers';
import { Shim } from './shim.js';
import type { ShimOrder } from './shim-order.js';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// The listener can be gone.
process.stdout.on('error', () => {});

// Half an order is no order: its author died meanwhile, and nothing was started.
const order = JSON.parse(await text(process.stdin)) as ShimOrder;
await new Shim(order, (answer) => {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}).run();
process.exit(0);
