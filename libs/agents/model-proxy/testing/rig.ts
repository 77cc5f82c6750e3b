import {
  type ModelServer,
  type Script,
  startModelServer,
} from '../../../../test/support/model-server/index.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import type { ModelReplacement, ModelUsage, SeenLimit } from '../domain/contract.js';
import { ModelProxy, type ModelProxyOptions } from '../proxy/model-proxy.js';

export const TOKEN = 'run-token';
export const KEY = 'sk-the-real-key';

/** A request of an agent, in each protocol. */
export const WIRES = {
  messages: {
    provider: 'anthropic',
    path: '/anthropic/v1/messages',
    body: (stream: boolean) => ({
      model: 'claude-sonnet-4-5',
      stream,
      max_tokens: 500,
      messages: [],
    }),
  },
  responses: {
    provider: 'openai',
    path: '/openai/v1/responses',
    body: (stream: boolean) => ({ model: 'gpt-5.5', stream, max_output_tokens: 500, input: [] }),
  },
  chat: {
    provider: 'openai',
    path: '/openai/v1/chat/completions',
    body: (stream: boolean) => ({
      model: 'gpt-5.5',
      stream,
      max_tokens: 500,
      messages: [],
      ...(stream ? { stream_options: { include_usage: true } } : {}),
    }),
  },
  gemini: {
    provider: 'gemini',
    path: '/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    body: () => ({ generationConfig: { maxOutputTokens: 500 }, contents: [] }),
  },
} as const;

export type Wire = keyof typeof WIRES;

/** A proxy in front of a stand-in for the providers, and its reports. */
export class Rig {
  readonly ended: ModelUsage[] = [];
  readonly limits: SeenLimit[] = [];
  readonly replacements: ModelReplacement[] = [];

  private constructor(readonly server: ModelServer) {}

  proxy!: ModelProxy;

  static async open(script: Script, changes: Partial<ModelProxyOptions> = {}): Promise<Rig> {
    const rig = new Rig(await startModelServer(script));
    rig.proxy = await ModelProxy.open({
      listen: 'loopback',
      token: TOKEN,
      access: (provider) => Promise.resolve({ provider, baseUrl: rig.server.url, key: KEY }),
      admit: () => Promise.resolve({ kind: 'admitted' }),
      ended: (usage) => rig.ended.push(usage),
      limited: (...limits) => rig.limits.push(...limits.flat()),
      replaced: (replacement) => rig.replacements.push(replacement),
      ...changes,
    });
    return rig;
  }

  async close(): Promise<void> {
    await this.proxy.close(0);
    await this.server.close();
  }

  ask(path: string, body: object, init: RequestInit = {}): Promise<Response> {
    const headers = { 'x-api-key': TOKEN, 'content-type': 'application/json' };
    const text = JSON.stringify(body);
    return fetch(`${this.proxy.url}${path}`, { method: 'POST', headers, body: text, ...init });
  }

  /** Asks on a wire, and reads the answer. */
  async read(wire: Wire, isStream = true): Promise<{ status: number; text: string }> {
    const { body } = WIRES[wire];
    const path = WIRES[wire].path.replace(/streamG(.*)\?alt=sse/, isStream ? '$&' : 'g$1');
    const response = await this.ask(path, body(isStream));
    return { status: response.status, text: await response.text() };
  }

  /** Waits for the report of the request with this number. */
  usage(index = 0): Promise<ModelUsage> {
    return waitFor('the report of usage', () => this.ended[index]);
  }
}

/** Returns a signal that is given once, and its wait. */
export function aSignal(): { given: Promise<void>; give: () => void } {
  let give = () => undefined as void;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give: () => give() };
}
