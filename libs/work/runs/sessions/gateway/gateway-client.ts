import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import CircuitBreaker from 'opossum';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { CONFIG, type Config } from '#lib/config';
import { readAtMost } from '#lib/kernel';
import { type SpawnAnswer, type SpawnRequest, type SpawnResult } from '../domain/spawn.js';
import { basicResult, isUndelivered, toBasicRequest } from './basic-protocol.js';
import { GatewayTokens, type Passport } from './gateway-tokens.js';

const BREAKER = {
  // Each call has its own timeout, which closes the connection too.
  timeout: false as const,
  errorThresholdPercentage: 50,
  volumeThreshold: 5,
  rollingCountTimeout: 10_000,
  resetTimeout: 5_000,
};
const MAX_ANSWER_BYTES = 1_048_576;

const answer = z.object({
  session: z.object({
    id: z.string().min(1),
    sessionKey: z.string().min(1).max(255),
    status: z.enum(['QUEUED', 'STARTING', 'RUNNING', 'COMPLETED', 'FAILED', 'STOPPED']),
  }),
  gateway: z.object({
    id: z.string().min(1).max(100),
    bootId: z.uuid(),
    sequence: z.number().int().min(0),
  }),
});
const problem = z.object({
  code: z.string().default('unknown'),
  title: z.string().optional(),
  detail: z.string().optional(),
});

/** Nobody knows whether the gateway acted, unless the call never reached it. */
class NoAnswer extends Error {
  constructor(
    message: string,
    readonly undelivered = false,
  ) {
    super(message);
  }
}

/**
 * Calls the gateway behind a circuit breaker, which pauses calls while the gateway does not answer.
 */
@Injectable()
export class GatewayClient implements OnApplicationShutdown {
  private readonly agent: Agent;
  private readonly breaker: CircuitBreaker<[SpawnRequest], SpawnResult>;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway'>,
    private readonly tokens: GatewayTokens,
  ) {
    const { timeoutMs } = config.gateway;
    this.agent = new Agent({
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    this.breaker = new CircuitBreaker((spawn: SpawnRequest) => this.callSpawn(spawn), BREAKER);
  }

  /** Whether a gateway is configured. */
  get configured(): boolean {
    const { url, isBasic } = this.config.gateway;
    return url !== undefined && (isBasic || this.tokens.configured);
  }

  /** Whether calls are refused at once, because the last ones were not answered. */
  get circuitOpen(): boolean {
    return this.breaker.opened;
  }

  /**
   * Requests the session of a run. A retry for the same run returns the same session, except from a
   * gateway of the basic protocol, whose action is not known (`unknown`).
   */
  async spawn(spawn: SpawnRequest): Promise<SpawnResult> {
    try {
      return await this.breaker.fire(spawn);
    } catch (error) {
      if (error instanceof NoAnswer) {
        const isUnknown = this.config.gateway.isBasic && !error.undelivered;
        return { kind: isUnknown ? 'unknown' : 'no_answer', message: error.message };
      }
      if ((error as { code?: string }).code === 'EOPENBREAKER') return { kind: 'circuit_open' };
      throw error;
    }
  }

  /**
   * Ends the session of a run, if the gateway supports it. @returns whether the gateway has
   * answered
   */
  async stop(runId: string, graceSeconds: number): Promise<boolean> {
    if (this.config.gateway.isBasic) return false;
    try {
      const path = `/api/sessions/${runId}?graceSeconds=${graceSeconds}`;
      const { status } = await this.call('DELETE', path);
      return status < 300 || status === 404;
    } catch (error) {
      if (error instanceof NoAnswer) return false;
      throw error;
    }
  }

  /** Not sooner: answers of calls in progress would be lost. */
  async onApplicationShutdown(): Promise<void> {
    this.breaker.shutdown();
    await this.agent.destroy();
  }

  private async callSpawn(spawn: SpawnRequest): Promise<SpawnResult> {
    if (this.config.gateway.isBasic) return this.callBasic(spawn);
    const { status, body, retryAfterMs } = await this.call('POST', '/api/agents/spawn', spawn);
    if (status === 200 || status === 201 || status === 202) {
      const parsed = answer.safeParse(body);
      if (!parsed.success) throw new NoAnswer('The gateway’s answer cannot be understood');
      return { kind: 'spawned', ...(parsed.data satisfies SpawnAnswer) };
    }
    const { code, title, detail } = problem.catch({ code: 'unknown' }).parse(body);
    const message = `${code}: ${detail ?? title ?? `HTTP ${status}`}`;
    if (status === 429 || status === 503) return { kind: 'busy', message, retryAfterMs };
    if (status >= 500 || status === 401) throw new NoAnswer(message);
    return { kind: 'refused', message };
  }

  private async callBasic(spawn: SpawnRequest): Promise<SpawnResult> {
    const result = basicResult(await this.call('POST', '/api/agents/spawn', toBasicRequest(spawn)));
    // The circuit breaker must count it.
    if (result.kind === 'unknown') throw new NoAnswer(result.message);
    return result;
  }

  private async call(method: 'POST' | 'DELETE', path: string, body?: unknown) {
    const passport = this.config.gateway.isBasic ? undefined : this.tokens.issue();
    try {
      const response = await request(`${this.config.gateway.url?.replace(/\/$/, '')}${path}`, {
        method,
        dispatcher: this.agent,
        // On a connection that the gateway is just closing, nobody could tell whether the call
        // arrived.
        reset: this.config.gateway.isBasic,
        signal: AbortSignal.timeout(this.config.gateway.timeoutMs),
        headers: {
          authorization: `Bearer ${passport?.token ?? this.config.gateway.secret}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      // An unread body reports that as an error.
      response.body.on('error', () => undefined);
      if (!this.isProven(response.headers['drover-gateway-proof'], passport)) {
        response.body.destroy();
        throw new NoAnswer('The answer carries no proof that it is the gateway’s');
      }
      const text = await readAtMost(response.body, MAX_ANSWER_BYTES);
      return {
        status: response.statusCode,
        body: text === undefined ? undefined : parseJson(text),
        retryAfterMs: retryAfterOf(response.headers['retry-after']),
      };
    } catch (error) {
      if (error instanceof NoAnswer) throw error;
      const message = `The gateway cannot be reached: ${(error as Error).message}`;
      throw new NoAnswer(message, isUndelivered(error));
    }
  }

  private isProven(proof: string | string[] | undefined, passport: Passport | undefined): boolean {
    if (passport === undefined) return true;
    return this.tokens.proves(typeof proof === 'string' ? proof : undefined, passport);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The header has seconds, or a time. */
function retryAfterOf(header: string | string[] | undefined): number | undefined {
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1_000 : undefined;
  const at = Date.parse(String(header));
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
