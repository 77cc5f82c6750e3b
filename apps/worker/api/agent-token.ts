import { readFile } from 'node:fs/promises';
import { type Credentials, type DroverClient } from '#lib/api-client';
import type { AgentToken } from '../config.js';

/** A token that somebody gave us; a file is read again when its token is refused. */
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
/** A token is replaced when this part of its life is over. */
const RENEW_AT = 0.8;

/** A token that is made with an API key when one is needed. */
export class FetchedToken implements Credentials {
  private token: { text: string; renewAt: number } | undefined;
  private fetching: Promise<string> | undefined;

  /** @param holder the server, as the holder of the key sees it */
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
    // Calls that were sent together are refused together: the first of them has renewed it for all.
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
    // A life that cannot be right means that this machine's clock is off: then a refusal tells.
    const usable = Number.isFinite(life) && life > 0 ? life * RENEW_AT : Infinity;
    this.token = { text: token, renewAt: performance.now() + usable };
    return this.token.text;
  }
}

function headersOf(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
