import { readFile } from 'node:fs/promises';
import {
  bearer,
  type Credentials,
  type HttpClient,
  type Passport,
  successOf,
} from '#lib/agent-host';
import type { AgentToken, ApiKey } from '../config.js';

/** A token that somebody gave us; a file is read again when its token is refused. */
export class GivenToken implements Credentials {
  private token: string | undefined;

  constructor(private readonly given: Omit<AgentToken, 'kind'>) {}

  async present(): Promise<Passport> {
    const token = (this.token ??= await this.read());
    const renew = async (): Promise<boolean> => (this.token = await this.read()) !== token;
    return { headers: bearer(token), renew };
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
export class FetchedToken implements Credentials {
  private token: { text: string; renewAt: number } | undefined;
  private fetching: Promise<string> | undefined;

  constructor(
    private readonly http: HttpClient,
    private readonly key: ApiKey,
    private readonly agentId: string,
  ) {}

  async present(): Promise<Passport> {
    const token = await this.current();
    const renew = async (): Promise<boolean> => {
      if (this.token?.text === token) this.token = undefined;
      return (await this.current()) !== token;
    };
    return { headers: bearer(token), renew };
  }

  private async current(): Promise<string> {
    if (this.token !== undefined && performance.now() < this.token.renewAt) return this.token.text;
    this.fetching ??= this.fetch().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async fetch(): Promise<string> {
    const answer = await this.http.send({
      method: 'POST',
      path: `/agents/${this.agentId}/token`,
      headers: keyHeaders(this.key),
      body: {},
      timeoutMs: FETCH_TIMEOUT_MS,
    });
    const { token, expiresAt } = successOf(answer);
    const life = Date.parse(String(expiresAt)) - Date.now();
    // A life that cannot be right means that this machine's clock is off: then a refusal tells.
    const usable = Number.isFinite(life) && life > 0 ? life * RENEW_AT : Infinity;
    this.token = { text: String(token), renewAt: performance.now() + usable };
    return this.token.text;
  }
}

/** The headers of a request made with an API key or a user's token. */
export function keyHeaders({ key, workspaceId }: ApiKey): Record<string, string> {
  return { ...bearer(key), ...(workspaceId && { 'x-workspace-id': workspaceId }) };
}
