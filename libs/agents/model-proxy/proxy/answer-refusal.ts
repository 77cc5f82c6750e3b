import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from '../domain/contract.js';
import { refusalBody } from '../domain/refusal.js';

/** Answers with an error in the provider's form. A started answer is broken instead. */
export function answerRefusal(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  provider: Provider,
  refusal: { status: number; code: string; message: string },
): void {
  if (response.headersSent) return void response.destroy();
  const body = JSON.stringify(refusalBody(provider, refusal));
  response.writeHead(refusal.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    // The rest of a request that was not read cannot be skipped.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(body);
}
