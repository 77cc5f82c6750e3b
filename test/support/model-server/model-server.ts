import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropic } from './anthropic.js';
import { gemini } from './gemini.js';
import { chat } from './openai-chat.js';
import { responses } from './openai-responses.js';
import type { Failure, Script, ServedUsage, Turn } from './script.js';
import { hasCalls, partsOf, passedTurns, textOf, turnsOf, waitBefore } from './script.js';
import { callTool } from './tools.js';
import type { Asked, JsonObject, Reply, Wire } from './wire.js';

/** A request that the server got. */
export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: JsonObject;
  startedAt: Date;
  endedAt?: Date;
  /** The status of the answer. */
  status?: number;
  /** The number of the script's turn. */
  turn?: number;
  /** The tokens of an answer of a model. They count whether or not the answer arrived. */
  served?: ServedUsage;
  /** The bytes of the answer that were sent. */
  sent: string;
  /** The client closed the connection before the end of the answer. */
  isBrokenOff: boolean;
  /** The script broke the connection. */
  isCut: boolean;
}

export interface ModelServer {
  /** The base URL, for example `http://127.0.0.1:4000`: wires are below `/v1` and `/v1beta`. */
  url: string;
  requests: SeenRequest[];
  /** Returns the sum of the tokens of all answers, and their number. */
  served(): ServedUsage & { requests: number };
  close(): Promise<void>;
}

/**
 * Starts a stand-in for the servers of Anthropic, OpenAI and Google. It answers each request of an
 * agent by the script, and counts the tokens that it served.
 */
export async function startModelServer(script: Script, port = 0): Promise<ModelServer> {
  const requests: SeenRequest[] = [];
  const answering = new Answering(script);
  const server = createServer((request, response) => {
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: {},
      startedAt: new Date(),
      sent: '',
      isBrokenOff: false,
      isCut: false,
    };
    requests.push(seen);
    response.on('close', () => {
      seen.endedAt = new Date();
      seen.isBrokenOff = !response.writableFinished && !seen.isCut;
    });
    answering.answer(request, response, seen).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      end(response, seen, 500, { error: { message: String(error), type: 'script_error' } });
    });
  });
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    served: () => sumOf(requests),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

class Answering {
  /** Counts the failures that a turn of a conversation has had. */
  private readonly failures = new Map<string, number>();
  private answers = 0;

  constructor(private readonly script: Script) {}

  async answer(request: IncomingMessage, response: ServerResponse, seen: SeenRequest) {
    const path = new URL(seen.path, 'http://server').pathname;
    seen.body = await readBody(request);
    if (seen.method === 'GET' && /\/v1(beta)?\/models$/.test(path)) {
      return end(response, seen, 200, { object: 'list', data: [], models: [] });
    }
    if (seen.method === 'HEAD') return end(response, seen, 200, undefined);
    if (/\/messages\/count_tokens$|\/responses\/input_tokens$|:countTokens$/.test(path)) {
      const count = JSON.stringify(seen.body).length >> 2;
      return end(response, seen, 200, { input_tokens: count, totalTokens: count });
    }
    const wire = wireOf(path);
    if (!wire) return end(response, seen, 404, { error: { message: `No ${path}` } });
    const asked = wire.read(seen.body, path);
    const turn = this.chooseTurn(asked, seen);
    const failure = turn.fails && this.failsNow(turn.fails, asked, seen);
    if (failure) {
      const { headers, body } = wire.refuse(failure);
      return end(response, seen, failure.status, body, headers);
    }
    const reply = this.toReply(turn, asked, wire);
    seen.served = reply.usage;
    if (asked.isStream) return stream(response, seen, turn, wire.stream(reply, seen.body));
    await waitBefore(turn, 0);
    if (turn.hangAfter !== undefined) return;
    end(response, seen, 200, wire.whole(reply, seen.body));
  }

  private chooseTurn({ conversation }: Asked, seen: SeenRequest): Turn {
    const turns = turnsOf(this.script, conversation);
    seen.turn = passedTurns(turns, conversation.items);
    const turn = turns[seen.turn] ?? {};
    // A side request, for a title for example, has no tools.
    return hasCalls(turn) && conversation.tools.length === 0 ? { text: 'Aside.' } : turn;
  }

  private failsNow(failure: Failure, asked: Asked, seen: SeenRequest): Failure | undefined {
    const key = `${seen.turn} ${asked.conversation.prompt}`;
    const before = this.failures.get(key) ?? 0;
    this.failures.set(key, before + 1);
    return before < (failure.times ?? Infinity) ? failure : undefined;
  }

  private toReply(turn: Turn, { model, conversation }: Asked, wire: Wire): Reply {
    this.answers += 1;
    // Each answer has its own figures, so that no mix-up of two requests stays unnoticed.
    const counted = { input: 1000, output: 40, cacheRead: 200, cacheWrite: 50 };
    const each = Object.entries(counted).map(([name, count]) => [name, count + this.answers]);
    const usage: ServedUsage = { ...Object.fromEntries(each), reasoning: 7, ...turn.usage };
    if (wire === anthropic) usage.reasoning = 0;
    else usage.cacheWrite = 0;
    return {
      id: `${this.answers}`,
      model,
      parts: partsOf(textOf(turn), turn.chunks ?? 2),
      reasoning: turn.reasoning ?? '',
      calls: (turn.calls ?? []).map((call) => callTool(call, conversation.tools)),
      usage,
      isRefusal: turn.isRefusal ?? false,
    };
  }
}

function wireOf(path: string): Wire | undefined {
  if (path.endsWith('/v1/messages')) return anthropic;
  if (path.endsWith('/v1/responses')) return responses;
  if (path.endsWith('/v1/chat/completions')) return chat;
  return /\/models\/[^/]+:(streamG|g)enerateContent$/.test(path) ? gemini : undefined;
}

async function stream(response: ServerResponse, seen: SeenRequest, turn: Turn, chunks: string[]) {
  seen.status = 200;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  for (const [index, chunk] of chunks.entries()) {
    if (index === turn.hangAfter) return;
    await waitBefore(turn, index);
    if (index === turn.cutAfter) {
      seen.isCut = true;
      return void response.destroy();
    }
    if (response.closed) return;
    seen.sent += chunk;
    await new Promise<void>((resolve) => void response.write(chunk, () => resolve()));
  }
  response.end();
}

function end(
  response: ServerResponse,
  seen: SeenRequest,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  seen.status = status;
  seen.sent = JSON.stringify(body) ?? '';
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(seen.sent);
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? {} : (JSON.parse(text) as JsonObject);
}

/** Returns the sum of the tokens of the answers to these requests, and their number. */
export function sumOf(requests: SeenRequest[]): ServedUsage & { requests: number } {
  const total = { requests: 0, input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
  for (const { served } of requests) {
    if (!served) continue;
    total.requests += 1;
    for (const [name, count] of Object.entries(served)) {
      total[name as keyof ServedUsage] += count as number;
    }
  }
  return total;
}
