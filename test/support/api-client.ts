/** An answer of the API. `body` is the parsed JSON, or else the text. Tests know its shape. */
export interface ApiAnswer<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: T;
}

export interface ApiClient {
  get<T = Record<string, unknown>>(
    path: string,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer<T>>;
  post<T = Record<string, unknown>>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer<T>>;
  put<T = Record<string, unknown>>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer<T>>;
  patch<T = Record<string, unknown>>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer<T>>;
  delete<T = Record<string, unknown>>(
    path: string,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer<T>>;
}

/** @param base the server's address; paths are below /api/v1 */
export function apiClient(base: string, credentials: Record<string, string>): ApiClient {
  const send = async <T>(
    method: string,
    path: string,
    body?: unknown,
    headers = {},
  ): Promise<ApiAnswer<T>> => {
    const response = await fetch(`${base}/api/v1${path}`, {
      method,
      headers: {
        ...credentials,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : isJson ? JSON.parse(text) : text) as T,
    };
  };
  return {
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body = {}, headers) => send('POST', path, body, headers),
    put: (path, body = {}, headers) => send('PUT', path, body, headers),
    patch: (path, body = {}, headers) => send('PATCH', path, body, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
  };
}
