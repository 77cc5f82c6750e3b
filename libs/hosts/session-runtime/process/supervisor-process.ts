// Outlives a host that is killed, by as long as it takes to end what that one had started.
//
// On standard input, one JSON object a line: {"watch": {sessionId, leader?}} and {"forget": sessionId}. The
// end of standard input means that the host is gone, however it went: then every session that is still
// watched is killed, and this process ends. It leads a session of its own, so that neither Ctrl-C
// nor a signal to the host's group reaches it.
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
  // Several empty looks: a process may be forked just now and not carry its mark yet.
  await Promise.all(
    [...watched].map(([sessionId, leader]) => killTree({ id: sessionId, leader }, 4)),
  );
  process.exit(0);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
createInterface({ input: process.stdin })
  .on('line', followOrder)
  .on('close', () => void endAll());
