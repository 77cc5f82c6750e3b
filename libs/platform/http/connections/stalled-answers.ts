import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface StallLimits {
  /** Maximum time for which a client accepts nothing of an answer, in milliseconds. */
  stalledMs: number;
  /** Maximum time without traffic while an answer is computed, in milliseconds. */
  silenceMs: number;
  /** Maximum time between two requests, in milliseconds. */
  keepAliveMs: number;
}

const MAX_SWEEP_MS = 5_000;

/**
 * Ends connections of clients that stop reading an answer. Node's time limit of a socket restarts
 * with each byte that leaves, but one limit cannot serve both: a long poll is silent for longer.
 */
export function endStalledAnswers(
  server: Server,
  sockets: ReadonlySet<Socket>,
  { stalledMs, silenceMs, keepAliveMs }: StallLimits,
): void {
  const limited = new WeakSet<Socket>();
  const sweep = () => {
    for (const socket of sockets) {
      const isSending = socket.writableLength > 0;
      if (isSending === limited.has(socket)) continue;
      if (isSending) limited.add(socket);
      else limited.delete(socket);
      const restMs = isAnswering(socket) ? silenceMs : keepAliveMs;
      socket.setTimeout(isSending ? stalledMs : restMs);
    }
  };
  const timer = setInterval(sweep, Math.min(MAX_SWEEP_MS, stalledMs)).unref();
  server.once('close', () => clearInterval(timer));
}

function isAnswering(socket: Socket): boolean {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null };
  return answer !== null && answer !== undefined;
}
