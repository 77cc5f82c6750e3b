/** A queue as a library in the process of its user. Its tasks do nothing. */
export interface Peer {
  /** Adds one task in a transaction of its own. */
  add(key: number): Promise<unknown>;
  addMany(count: number): Promise<unknown>;
  /** Ten workers do tasks until none is left. @param batch tasks at a time, 1 or 50 */
  drain(batch: number): Promise<number>;
  /** Starts ten workers that wait for tasks. @param begin the first line of the handler */
  wait(begin: (key: number) => void): Promise<void>;
  close(): Promise<unknown>;
}

export const WORKERS = 10;
/** The connections of each peer: those of its workers, and 16 that add at once. */
export const CONNECTIONS = 20;
export const COMMAND = { command: ['true'] };

export type PeerName = 'graphile-worker' | 'pg-boss' | 'loop';
