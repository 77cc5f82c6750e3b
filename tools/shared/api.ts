export type Json = Record<string, unknown>;

/** The server refused a request, and says why. */
export class ApiRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const TIMEOUT_MS = 15_000;

/** Requests with one credential. Paths are below /api/v1. */
export class Api {
  constructor(
    readonly address: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  as(token: string): Api {
    return new Api(this.address, { authorization: `Bearer ${token}` });
  }

  get<T = Json>(path: string): Promise<T> {
    return this.send<T>('GET', path);
  }

  post<T = Json>(path: string, body: Json = {}): Promise<T> {
    return this.send<T>('POST', path, body);
  }

  patch<T = Json>(path: string, body: Json): Promise<T> {
    return this.send<T>('PATCH', path, body);
  }

  /** @throws ApiRefusal, or the error of a connection that fails */
  private async send<T>(method: string, path: string, body?: Json): Promise<T> {
    const response = await fetch(`${this.address}/api/v1${path}`, {
      method,
      headers: {
        ...this.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    const answer = (text === '' ? {} : JSON.parse(text)) as Json;
    if (response.ok) return answer as T;
    const said = [answer['title'], answer['detail']].filter(Boolean).join(': ');
    const errors = answer['errors'] === undefined ? '' : ` ${JSON.stringify(answer['errors'])}`;
    throw new ApiRefusal(
      response.status,
      String(answer['code']),
      `${method} ${path}: ${response.status} ${said}${errors}`,
    );
  }
}
