import pg from 'pg';
import { latenciesOf } from '../harness/figure.js';
import { perSecond } from '../harness/in-turns.js';
import { paced, Starts } from '../harness/paced.js';
import { GraphileWorker } from './graphile-worker.js';
import { Loop } from './loop.js';
import type { Part } from './measure.js';
import type { Peer, PeerName } from './peer.js';
import { Boss } from './pg-boss.js';

/** Measures one part of one peer in an empty database, and prints the result. */
const { PEER, PART, DATABASE_URL = '' } = process.env;

const SECONDS = 2;
const ADDING_AT_ONCE = 16;
const PER_BATCH = 1_000;
const PACE = { count: 120, perSecond: 20 };

const PEERS: Record<PeerName, (url: string) => Promise<Peer>> = {
  'graphile-worker': (url) => GraphileWorker.create(url),
  'pg-boss': (url) => Boss.create(url),
  loop: (url) => Loop.create(url),
};

const PARTS: Record<Part, (peer: Peer) => Promise<unknown>> = {
  'add-one': (peer) => adding(ADDING_AT_ONCE, 1, () => peer.add(0)),
  'add-thousands': (peer) => adding(2, PER_BATCH, () => peer.addMany(PER_BATCH)),
  'drain-one': (peer) => draining(peer, 3, 1),
  'drain-fifties': (peer) => draining(peer, 20, 50),
  latency: waiting,
};

async function adding(atOnce: number, each: number, add: () => Promise<unknown>): Promise<number> {
  // The first tasks find cold connections.
  await Promise.all(Array.from({ length: atOnce }, add));
  return perSecond(async () => {
    const until = performance.now() + SECONDS * 1000;
    let added = 0;
    const one = async (): Promise<void> => {
      for (; performance.now() < until; added += each) await add();
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    return added;
  });
}

async function draining(peer: Peer, thousands: number, batch: number): Promise<number> {
  await peer.addMany(4 * batch);
  await peer.drain(batch);
  for (let added = 0; added < thousands; added++) await peer.addMany(PER_BATCH);
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 1 });
  await pool.query('VACUUM (ANALYZE)');
  await pool.end();
  return perSecond(async () => {
    const done = await peer.drain(batch);
    if (done !== thousands * PER_BATCH) throw new Error(`${done} tasks were done`);
    return done;
  });
}

async function waiting(peer: Peer): Promise<unknown> {
  const starts = new Starts<number>();
  await peer.wait((key) => starts.note(key));
  let key = 0;
  const one = async (): Promise<number> => {
    const [own, calledAt] = [key++, performance.now()];
    await peer.add(own);
    return (await starts.of(own)) - calledAt;
  };
  await paced({ ...PACE, count: 40 }, one);
  return latenciesOf(await paced(PACE, one));
}

const peer = await PEERS[PEER as PeerName](DATABASE_URL);
const found = await PARTS[PART as Part](peer);
await peer.close();
process.stdout.write(`found ${JSON.stringify(found)}\n`);
