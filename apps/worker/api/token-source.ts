import { readFile } from 'node:fs/promises';
import type { Credentials } from '../config.js';
import { toApiError } from './errors.js';
import type { HttpClient } from './http-client.js';
import type { JsonObject } from './types.js';

/** Where the agent token comes from. */
export interface TokenSource {
  current(): Promise<string>;
  /**
   * Looks for another token after this one was refused.
   *
   * @returns whether there is a different one now
   */
  renew(refused: string): Promise<boolean>;
}

/** A token that somebody gave us; a file is read again when its token is refused. */
export class GivenToken implements TokenSource {
  private token: string | undefined;

  constructor(private readonly given: Extract<Credentials, { kind: 'agent' }>) {}

  async current(): Promise<string> {
    this.token ??= await this.read();
    return this.token;
  }

  async renew(refused: string): Promise<boolean> {
    this.token = await this.read();
    return this.token !== refused;
  }

  private async read(): Promise<string> {
    const { token, tokenFile } = this.given;
    if (tokenFile === undefined) return token ?? '';
    return (await readFile(tokenFile, 'utf8')).trim();
  }
}

const FETCH_TIMEOUT_MS = 10_000;
/** A token is replaced when this part of its life is over. */
const RENEW_AT = 0.8;

/** A token that is made with an API key when one is needed. */
export class FetchedToken implements TokenSource {
  private token: { text: string; renewAt: number } | undefined;
  private fetching: Promise<string> | undefined;

  constructor(
    private readonly http: HttpClient,
    private readonly keyHeaders: Record<string, string>,
    private readonly agentId: string,
  ) {}

  async current(): Promise<string> {
    if (this.token !== undefined && performance.now() < this.token.renewAt) return this.token.text;
    return this.fetchOnce();
  }

  async renew(refused: string): Promise<boolean> {
    if (this.token?.text === refused) this.token = undefined;
    return (await this.current()) !== refused;
  }

  private fetchOnce(): Promise<string> {
    this.fetching ??= this.fetch().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async fetch(): Promise<string> {
    const response = await this.http.send({
      method: 'POST',
      path: `/agents/${this.agentId}/token`,
      headers: this.keyHeaders,
      body: {},
      timeoutMs: FETCH_TIMEOUT_MS,
    });
    if (response.status !== 201 && response.status !== 200) {
      throw toApiError(response.status, response.body, response.retryAfter);
    }
    const { token, expiresAt } = response.body as JsonObject;
    const life = Date.parse(String(expiresAt)) - Date.now();
    // A life that can't be right means that this machine's clock is off: then a refusal tells.
    const usable = Number.isFinite(life) && life > 0 ? life * RENEW_AT : Infinity;
    this.token = { text: String(token), renewAt: performance.now() + usable };
    return this.token.text;
  }
}
