import { Agent, request } from 'undici';

interface Answer {
  status: number;
  text: string;
}

/** Calls the API over a limited number of connections. */
export class Client {
  private readonly http: Agent;

  constructor(
    private readonly url: string,
    connections: number,
  ) {
    this.http = new Agent({ connections });
  }

  /**
   * @throws Error if the answer is not a success
   */
  async post<T>(path: string, token: string, body: object): Promise<T> {
    return read<T>(path, await this.send('POST', path, token, body));
  }

  async put<T>(path: string, token: string, body: object): Promise<T> {
    return read<T>(path, await this.send('PUT', path, token, body));
  }

  async get<T>(path: string, token: string): Promise<T> {
    return read<T>(path, await this.send('GET', path, token));
  }

  /** Tells whether the API has this route, whatever it answers to an empty request. */
  async has(path: string, token: string): Promise<boolean> {
    return (await this.send('POST', path, token, {})).status !== 404;
  }

  close(): Promise<void> {
    return this.http.destroy();
  }

  private async send(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    token: string,
    body?: object,
  ): Promise<Answer> {
    const answer = await request(`${this.url}${path}`, {
      method,
      dispatcher: this.http,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }
}

function read<T>(path: string, { status, text }: Answer): T {
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text) as T;
}
