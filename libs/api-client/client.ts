import createFetchClient, {
  type FetchOptions,
  type FetchResponse,
  type MaybeOptionalInit,
} from 'openapi-fetch';
import { anonymous } from './credentials.js';
import type { paths } from './generated/api.js';
import { KEYED } from './generated/keyed.js';
import { transport, type TransportOptions } from './transport.js';

export interface ClientOptions extends Partial<TransportOptions> {
  /** Where Drover is, without `/api/v1`: `http://127.0.0.1:3000`. */
  baseUrl: string;
}

type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';
type PathWith<M extends HttpMethod> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];
type Init<P extends keyof paths, M extends HttpMethod> = MaybeOptionalInit<
  paths[P],
  M & keyof paths[P]
>;
type Given<I> = undefined extends I ? [init?: I] : [init: I];
type Answer<P extends keyof paths, M extends HttpMethod> = NonNullable<
  FetchResponse<
    paths[P][M & keyof paths[P]] & Record<string | number, unknown>,
    FetchOptions<paths[P][M & keyof paths[P]]>,
    'application/json'
  >['data']
>;

/** One method of HTTP over all of its paths. Fails as `transport` says. */
export type Call<M extends HttpMethod> = <P extends PathWith<M>>(
  path: P,
  ...init: Given<Init<P, M>>
) => Promise<Answer<P, M>>;

export interface DroverClient {
  get: Call<'get'>;
  post: Call<'post'>;
  put: Call<'put'>;
  patch: Call<'patch'>;
  delete: Call<'delete'>;
  /** The same server with other credentials, another workspace or other limits. */
  with(options: Partial<ClientOptions>): DroverClient;
}

/** Requests to one server, each path, parameter, body and answer typed by the OpenAPI document. */
export function createClient(options: ClientOptions): DroverClient {
  const send = transport({ credentials: anonymous, ...options });
  const client = createFetchClient<paths>({ baseUrl: options.baseUrl });
  const call = <M extends HttpMethod>(method: M): Call<M> =>
    // What the type says in one piece, openapi-fetch has as one overload for each method.
    (async (path: string, init?: object) => {
      const request = client.request as unknown as Request;
      const sending = { repeatable: isRepeatable(method, path, init) };
      const fetch = (one: globalThis.Request) => send(one, sending);
      return (await request(method, path, { ...init, fetch })).data ?? {};
    }) as unknown as Call<M>;
  return {
    get: call('get'),
    post: call('post'),
    put: call('put'),
    patch: call('patch'),
    delete: call('delete'),
    with: (other) => createClient({ ...options, ...other }),
  };
}

/** A lost POST may have been done: where the server keeps no key of it, it is not asked a second time. */
function isRepeatable(method: HttpMethod, path: string, init: object = {}): boolean {
  if (method === 'post') return KEYED.has(path);
  if (method !== 'patch') return true;
  // Without the version that it was meant for, it could undo another's change.
  const { params, headers } = init as {
    params?: { header?: object };
    headers?: Record<string, string>;
  };
  return 'If-Match' in (params?.header ?? {}) || new Headers(headers).has('if-match');
}

type Request = (method: string, path: string, init?: object) => Promise<{ data?: unknown }>;
