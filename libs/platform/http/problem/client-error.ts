import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { DroverError } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { requestIdOf } from '../server/request-id.js';
import { logRefusal } from './log-refusal.js';
import { PROBLEM_TYPE } from './send-problem.js';

/** An error of Node's parser about a request that it abandoned. */
type ClientError = Error & { code?: string; reason?: unknown };

/**
 * Answers what Node could not parse as a request, so that no route, filter or hook sees it. The
 * document is the same as for other errors, without a path, because the path is unknown. The
 * connection then ends, because the start of the next request is unknown, too.
 */
export function answerClientError(error: ClientError, socket: Socket, logger?: Logger): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable && !isAnswering(socket)) {
    const problem = problemOf(error);
    const id = requestIdOf({ headers: {} });
    socket.write(answerTo(problem, id));
    if (logger) logRefusal(logger, { id }, problem);
  }
  socket.destroy(error);
}

/** Whether a part of an answer was sent. The client would read another answer as its rest. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null };
  return answer?.headersSent ?? false;
}

function problemOf({ code, reason }: ClientError): DroverError {
  if (code === 'HPE_HEADER_OVERFLOW') return new DroverError('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new DroverError('request_timeout');
  // The parser's own words never repeat the request.
  const detail = typeof reason === 'string' && reason !== '' ? `${reason}.` : undefined;
  return new DroverError('malformed_request', { detail });
}

function answerTo(error: DroverError, requestId: string): string {
  const { status } = error.spec;
  const body = JSON.stringify({ ...error.toProblem(), requestId });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
