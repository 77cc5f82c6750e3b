import type { Latencies } from '../harness/figure.js';
import type { Rig } from '../harness/rig.js';
import type { PeerName } from './peer.js';

export type Part = 'add-one' | 'add-thousands' | 'drain-one' | 'drain-fifties' | 'latency';

/**
 * Measures a part of a peer in a process of its own, on an empty database of the durable server.
 */
export async function measurePeer<P extends Part>(
  rig: Rig,
  peer: PeerName,
  part: P,
): Promise<P extends 'latency' ? Latencies : number> {
  const database = await rig.newDatabase({ durable: true });
  const env = { PEER: peer, PART: part, DATABASE_URL: database };
  const program = await rig.startProgram('test/load/peers/main.js', env, /^found (.+)$/);
  await program.stop();
  return JSON.parse(program.said) as P extends 'latency' ? Latencies : number;
}
