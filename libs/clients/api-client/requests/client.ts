import {
  createFinalURL,
  createQuerySerializer,
  defaultPathSerializer,
  type FetchOptions,
  type FetchResponse,
  type MaybeOptionalInit,
  mergeHeaders,
} from 'openapi-fetch';
import { Addresses } from './addresses.js';
import { MAX_ANSWER_BYTES, valueOf } from './answer.js';
import { anonymous } from './credentials.js';
import type { components, paths } from '../generated/api.js';
import { KEYED } from '../generated/keyed.js';
import { DroverProblem, type Problem } from './problem.js';
import { transport, type TransportOptions } from './transport.js';

export interface ClientOptions extends Partial<Omit<TransportOptions, 'addresses'>> {
  /**
   * The address of Drover without `/api/v1`: `http://127.0.0.1:3000`. Several addresses, separated
   * by commas, are those of servers of one installation: when one does not answer, the next is
   * asked.
   */
  baseUrl: string | Addresses;
  /** Serializes bodies; `JSON.stringify` by default. */
  write?: (body: unknown) => string;
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

type Artifact = components['schemas']['Artifact'];
type Attachment = components['schemas']['Attachment'];

/** A method of HTTP over all of its paths. Its errors are those of `transport`. */
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
  /**
   * Stores a file of a run. Its errors are those of `put`.
   */
  saveArtifact(runId: string, file: FileToSave): Promise<Artifact>;
  /**
   * Stores a file under the id by which tasks name their attachments. Its errors are those of `put`.
   *
   * @param id a UUID that the caller chose
   */
  saveAttachment(id: string, file: FileToSave): Promise<Attachment>;
  /** Keeps the state of a live run's coding agent, for its host. Its errors are those of `put`. */
  saveAgentState(
    runId: string,
    state: { content: Uint8Array<ArrayBuffer>; signal?: AbortSignal },
  ): Promise<void>;
  /**
   * Downloads an artifact. The caller reads the body of the answer or cancels it.
   *
   * @param artifact.downloadPath as the server listed it, at most five minutes ago
   */
  download(artifact: Pick<Artifact, 'downloadPath'>, signal?: AbortSignal): Promise<Response>;
  /**
   * Returns a client of the same server with other credentials, another workspace or other limits.
   */
  with(options: Partial<ClientOptions>): DroverClient;
}

/** A file on its way to the server. */
export interface FileToSave {
  /** A relative path. */
  name: string;
  content: Uint8Array<ArrayBuffer>;
  /** A media type. */
  type?: string;
  signal?: AbortSignal;
}

/**
 * The fields of `Init` that this client reads. The type of `Init` has all fields of the document.
 */
interface AnyInit {
  params?: {
    path?: Record<string, unknown>;
    query?: Record<string, unknown>;
    header?: Record<string, string>;
  };
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

const JSON_TYPE = 'application/json';
const BYTES_TYPE = 'application/octet-stream';
const serializers = {
  querySerializer: createQuerySerializer(),
  pathSerializer: defaultPathSerializer,
};

/**
 * Creates a client of one server. The OpenAPI document types each path, parameter, body and answer.
 */
export function createClient(options: ClientOptions): DroverClient {
  const addresses = Addresses.of(options.baseUrl);
  const send = transport({ credentials: anonymous, ...options, addresses });
  const { write = JSON.stringify, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const call = <M extends HttpMethod>(method: M): Call<M> =>
    (async (path: string, init: AnyInit = {}) => {
      const { params = {}, body, signal } = init;
      const target = createFinalURL(path, { ...serializers, baseUrl: '', params });
      const headers = mergeHeaders(
        { accept: 'application/json', ...(body !== undefined && { 'content-type': JSON_TYPE }) },
        init.headers,
        params.header,
      );
      const text = body === undefined ? undefined : written(body, write);
      const request = { method: method.toUpperCase(), path: target, headers, body: text, signal };
      const value = await send(request, {
        repeatable: isRepeatable(method, path, headers),
        take: (answer, end, url) => valueOf(answer, url, maxAnswerBytes, end),
      });
      return value ?? {};
    }) as unknown as Call<M>;
  const saveFile = <T>(path: string, of: string, { name, content, type, signal }: FileToSave) => {
    const params = { path: { of, name } };
    const request = {
      method: 'PUT',
      path: createFinalURL(path, { ...serializers, baseUrl: '', params }),
      headers: mergeHeaders({ accept: JSON_TYPE, 'content-type': type ?? BYTES_TYPE }),
      body: content,
      signal,
    };
    const take = (answer: Response, end: AbortSignal, url: string) =>
      valueOf(answer, url, maxAnswerBytes, end) as Promise<T>;
    return send(request, { repeatable: true, take });
  };
  return {
    get: call('get'),
    post: call('post'),
    put: call('put'),
    patch: call('patch'),
    delete: call('delete'),
    saveArtifact: (runId, file) =>
      saveFile<Artifact>('/api/v1/runs/{of}/artifacts/{name}', runId, file),
    saveAttachment: (id, file) => saveFile<Attachment>('/api/v1/attachments/{of}/{name}', id, file),
    saveAgentState: (runId, { content, signal }) => {
      const params = { path: { runId } };
      const request = {
        method: 'PUT',
        path: createFinalURL('/api/v1/runs/{runId}/agent-state', {
          ...serializers,
          baseUrl: '',
          params,
        }),
        headers: mergeHeaders({ accept: JSON_TYPE, 'content-type': BYTES_TYPE }),
        body: content,
        signal,
      };
      return send(request, { repeatable: true, take: () => Promise.resolve() });
    },
    download: ({ downloadPath: path }, signal) =>
      send(
        { method: 'GET', path, headers: new Headers(), signal },
        { repeatable: true, take: (answer) => Promise.resolve(answer) },
      ),
    with: (other) => createClient({ ...options, baseUrl: addresses, ...other }),
  };
}

/**
 * A POST without an answer may have taken effect. It is not repeated if the server stores no key of
 * it.
 */
function isRepeatable(method: HttpMethod, path: string, headers: Headers): boolean {
  if (method === 'post') return KEYED.has(path);
  // A repetition without the expected version could undo another client's change.
  return method !== 'patch' || headers.has('if-match');
}

/**
 * Returns the text of a request's body.
 *
 * @throws DroverProblem `malformed_json` for a body without a JSON form, such as thousands of
 *   nested levels. The network is not the cause, and a retry fails the same way
 */
function written(body: unknown, write: (body: unknown) => string): string {
  try {
    return write(body);
  } catch (error) {
    const problem: Problem = {
      type: 'about:blank',
      title: 'The body cannot be written as JSON',
      status: 400,
      code: 'malformed_json',
      detail: (error as Error).message,
      advice: 'Send a JSON object.',
      instance: '',
      requestId: '',
    };
    throw new DroverProblem(problem, undefined);
  }
}
