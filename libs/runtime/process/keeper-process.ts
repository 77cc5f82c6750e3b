// Stands between a session and the process that ordered it: starts the session's first process,
// follows it, and writes down how it ended, whether or not the one who ordered it still lives. It
// leads a session of its own, so that neither Ctrl-C nor a signal to the group of who ordered it
// reaches it. It ends when nothing of the session is left.
import { text } from 'node:stream/consumers';
import { Keeper } from './keeper.js';
import type { KeeperOrder } from './keeper-order.js';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// Who listened may be gone.
process.stdout.on('error', () => {});

// Half an order is none: who gave it died meanwhile, and nothing was started.
const order = JSON.parse(await text(process.stdin)) as KeeperOrder;
await new Keeper(order, (answer) => {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}).keep();
process.exit(0);
