import { readFile } from 'node:fs/promises';
import { type Credentials, type DroverClient } from '#lib/api-client';
import type { AgentToken } from '../config.js';

/** A given token. If it is refused, its file is read again. */
export class GivenToken implements Credentials {
  private token: string | undefined;

  constructor(private readonly given: Omit<AgentToken, 'kind'>) {}

  async headers(): Promise<Record<string, string>> {
    return headersOf((this.token ??= await this.read()));
  }

  async renew(refused: Record<string, string>): Promise<boolean> {
    this.token = await this.read();
    return headersOf(this.token)['authorization'] !== refused['authorization'];
  }

  private async read(): Promise<string> {
    const { token, tokenFile } = this.given;
    if (tokenFile === undefined) return token ?? '';
    return (await readFile(tokenFile, 'utf8')).trim();
  }
}

/** A stolen token is valid for at most this time. */
const LIFE_SECONDS = 3_600;
/** The share of its lifetime after which a token is replaced. */
const RENEW_AT = 0.8;

/** A token that is created with an API key on demand. */
export class FetchedToken implements Credentials {
  private token: { text: string; renewAt: number } | undefined;
  private fetching: Promise<string> | undefined;

  /**
   * @param holder the server's client with the API key
   */
  constructor(
    private readonly holder: DroverClient,
    private readonly agentId: string,
  ) {}

  async headers(): Promise<Record<string, string>> {
    return headersOf(await this.current());
  }

  async renew(refused: Record<string, string>): Promise<boolean> {
    const isRefused = ({ text }: { text: string }): boolean =>
      headersOf(text)['authorization'] === refused['authorization'];
    // Calls sent together are refused together. The first of them has renewed the token for all.
    if (this.token !== undefined && isRefused(this.token)) this.token = undefined;
    return !isRefused({ text: await this.current() });
  }

  private async current(): Promise<string> {
    if (this.token !== undefined && performance.now() < this.token.renewAt) return this.token.text;
    this.fetching ??= this.fetch().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async fetch(): Promise<string> {
    const params = { path: { id: this.agentId } };
    const body = { expiresInSeconds: LIFE_SECONDS };
    const answer = await this.holder.post('/api/v1/agents/{id}/token', { params, body });
    const { token, expiresAt } = answer;
    const life = Date.parse(expiresAt) - Date.now();
    // An impossible lifetime means that this machine's clock is wrong. A refusal then renews the
    // token.
    const usable = Number.isFinite(life) && life > 0 ? life * RENEW_AT : Infinity;
    this.token = { text: token, renewAt: performance.now() + usable };
    return this.token.text;
  }
}

function headersOf(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
