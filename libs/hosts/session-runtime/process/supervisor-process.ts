// Outlives a killed host until the processes that the host started have ended.
//
// It reads one JSON object a line on standard input: {"watch": {sessionId, leader?}} and {"forget":
// sessionId}. The end of standard input means that the host is gone, for whatever reason. It then
// kills every watched session and ends. It leads its own session, so neither Ctrl-C nor a signal to
// the host's group reaches it.
import { createInterface } from 'node:readline';
import { killTree, type ProcessRef } from './process-tree.js';

type Order = { watch: { sessionId: string; leader?: ProcessRef } } | { forget: string };

const watched = new Map<string, ProcessRef | undefined>();

function followOrder(line: string): void {
  const order = JSON.parse(line) as Order;
  if ('watch' in order) watched.set(order.watch.sessionId, order.watch.leader);
  else watched.delete(order.forget);
}

async function endAll(): Promise<void> {
  // Several empty looks in a row, because a process that was just forked has no mark yet.
  await Promise.all(
    [...watched].map(([sessionId, leader]) => killTree({ id: sessionId, leader }, 4)),
  );
  process.exit(0);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
createInterface({ input: process.stdin })
  .on('line', followOrder)
  .on('close', () => void endAll());
