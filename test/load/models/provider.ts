import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A provider of the Messages API. Each chunk tells its time in nanoseconds of the machine's monotonic
 * clock, which all processes share. A request names the number of chunks and their distance.
 */
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const asked = JSON.parse(Buffer.concat(parts).toString()) as { metadata: Asked };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const message = { model: 'm', usage: { input_tokens: 1, output_tokens: 1 } };
    response.write(event({ type: 'message_start', message }));
    void send(asked.metadata, (text) => void response.write(text)).then(() => response.end());
  });
});

interface Asked {
  chunks: number;
  everyMs: number;
}

async function send({ chunks, everyMs }: Asked, write: (text: string) => void): Promise<void> {
  // Streams that start together do not send together.
  if (everyMs > 0) await delay(Math.random() * everyMs);
  const started = performance.now();
  for (let sent = 0; sent < chunks; sent++) {
    const wait = started + sent * everyMs - performance.now();
    if (wait > 0) await delay(wait);
    const text = `@${process.hrtime.bigint()}@`;
    write(event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }));
  }
  const delta = { stop_reason: 'end_turn' };
  write(event({ type: 'message_delta', delta, usage: { output_tokens: chunks } }));
}

function event(data: { type: string; [field: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ message: 'listening', address: url })}\n`);
});
