import { ConnectionProblem, DroverProblem, type Problem, retryAfterOf } from './problem.js';

export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Reads the chunks of a body. The signal ends the iteration early, without an error. A caller that
 * leaves the iteration closes the body.
 *
 * The signal of the fetch is not enough: Node 20 and 22 forget it if garbage is collected after the
 * head of the answer, and the wait for a stalled body would never end.
 */
export async function* chunksOf(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  const cancel = () => reader.cancel().catch(() => undefined);
  const end = () => void cancel();
  signal.addEventListener('abort', end, { once: true });
  try {
    if (signal.aborted) return;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', end);
    await cancel();
  }
}

/**
 * Returns the body as text.
 *
 * @throws ConnectionProblem if it has more bytes, the signal's reason, the connection's error
 */
export async function textOf(
  answer: Response,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of chunksOf(answer.body, signal)) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ConnectionProblem('The answer is too long');
    text += decoder.decode(chunk, { stream: true });
  }
  signal.throwIfAborted();
  return text + decoder.decode();
}

/**
 * Returns the content of Drover's answer: the value of JSON, another type's text, undefined for no
 * body.
 *
 * @throws ConnectionProblem if the answer is not Drover's, such as a proxy's page; as `textOf`
 */
export async function valueOf(
  answer: Response,
  url: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<unknown> {
  const text = await textOf(answer, maxBytes, signal);
  if (text === '') return undefined;
  const type = answer.headers.get('content-type') ?? 'json';
  if (type.includes('json')) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // Treated below like a page that is not Drover's.
    }
  } else if (!type.includes('html')) return text;
  throw new ConnectionProblem(`${url} answered ${answer.status}, and not as Drover does`);
}

/** The limit of a refusal. A longer body is not Drover's. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

/**
 * @returns the error of a refusal. A proxy's page has no code, and is not an answer of Drover
 */
export async function refusalOf(
  response: Response,
  url: string,
  signal: AbortSignal,
): Promise<DroverProblem | ConnectionProblem> {
  const text = await textOf(response, MAX_REFUSAL_BYTES, signal).catch(() => '');
  const problem = parsed(text);
  if (problem === undefined)
    return new ConnectionProblem(`${url} answered ${response.status}, and not as Drover does`, {
      answer: response,
    });
  return new DroverProblem({ ...problem, status: response.status }, retryAfterOf(response));
}

function parsed(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Partial<Problem> | null;
    return typeof value?.code === 'string' ? (value as Problem) : undefined;
  } catch {
    return undefined;
  }
}
