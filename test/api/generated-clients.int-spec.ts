import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from '@hey-api/openapi-ts';
import { generate } from 'orval';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sharedServer, type TestServer } from '../support/shared-server.js';
import { readRoutes, type Route } from './support/openapi.js';
import { requestWith } from './support/places.js';
import { aTenant, type Tenant } from './support/tenant.js';

/**
 * Clients that orval and hey-api generate from the document compile in strict TypeScript, and send
 * the right request to every route. Reads of a member get the answer of the server.
 */

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'dist', 'generated-clients');

interface Operation {
  operationId: string;
  parameters?: { in: string }[];
  requestBody?: object;
  responses: Record<string, { content?: Record<string, unknown> }>;
}
type Client = Record<string, (...args: unknown[]) => Promise<unknown>>;

interface Values {
  path: Record<string, string>;
  body: unknown;
  headers: Record<string, string>;
}

/** How a client is called with the values of a request. */
const CALLS: Record<string, (values: Values, operation: Operation) => unknown[]> = {
  orval: ({ path, body, headers }, { requestBody, parameters = [] }) => [
    ...Object.values(path),
    ...(requestBody === undefined ? [] : [body]),
    ...(parameters.some((parameter) => parameter.in === 'query') ? [{}] : []),
    { headers },
  ],
  'hey-api': (values) => [{ ...values, baseUrl: server.url }],
};

let server: TestServer;
let tenant: Tenant;
let routes: Route[];
let paths: Record<string, Record<string, Operation>>;

beforeAll(async () => {
  server = await sharedServer();
  tenant = await aTenant(server);
  routes = await readRoutes(server.url);
  const document = await (await fetch(`${server.url}/docs/openapi.json`)).text();
  ({ paths } = JSON.parse(document) as { paths: typeof paths });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const input = join(folder, 'openapi.json');
  writeFileSync(input, document);
  const target = join(folder, 'orval/index.ts');
  await generate({
    input: { target: input },
    output: { target, client: 'fetch', baseUrl: server.url, urlEncodeParameters: true },
  });
  const output = join(folder, 'hey-api');
  await createClient({ input, output, logs: { level: 'silent' } });
});
afterAll(() => server.stop());

it('the generated clients compile in strict TypeScript', async () => {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
  };
  const project = join(folder, 'tsconfig.json');
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ['.'] }));
  expect(await node('typescript/bin/tsc', '--project', project)).toBe('');
});

/** Runs a program of a package. @returns its output if it fails */
async function node(program: string, ...args: string[]): Promise<string> {
  const path = join(root, 'node_modules', program);
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output += chunk));
  const [code] = (await once(child, 'close')) as [number];
  return code === 0 ? '' : `${code}: ${output}`;
}

describe.each(Object.keys(CALLS))('the client of %s', (name) => {
  it('a request to every route is the documented one, and a read gets its answer', async () => {
    const client = await load(name);
    const wrong: string[] = [];
    for (const route of routes) wrong.push(...(await complaints(name, client, route)));
    expect(wrong).toEqual([]);
  });
});

async function load(name: string): Promise<Client> {
  const file = join(folder, `${name}.mjs`);
  const entry = join(folder, name, 'index.ts');
  expect(await node('rolldown/bin/cli.mjs', entry, '--format', 'esm', '--file', file)).toBe('');
  return (await import(pathToFileURL(file).href)) as Client;
}

async function complaints(name: string, client: Client, route: Route): Promise<string[]> {
  const [template, operation] = documented(route);
  const wire = requestWith(route, { kind: 'user', caller: tenant.callers.user }, new Map());
  const { headers = {}, text } = wire;
  const body = text === undefined ? undefined : (JSON.parse(text) as unknown);
  const values = { path: valuesIn(template, wire.path), body, headers };
  const call = client[operation.operationId];
  if (call === undefined) return [`${route.name}: no function`];
  const isRead = route.method === 'GET' && isJson(operation) && isForPeople(route);
  const asked = await record(isRead, () => call(...(CALLS[name]?.(values, operation) ?? [])));
  const path = asked && decodeURIComponent(asked.path);
  if (asked?.method !== route.method || path !== decodeURIComponent(wire.path))
    return [`${route.name}: ${asked?.method} ${path}`];
  if (!isRead) return [];
  const { status } = await fetch(server.url + wire.path, { headers });
  return status === asked.status ? [] : [`${route.name}: ${asked.status}, not ${status}`];
}

function documented({ operationId }: Route): [string, Operation] {
  for (const [path, operations] of Object.entries(paths))
    for (const operation of Object.values(operations))
      if (operation.operationId === operationId) return [path, operation];
  throw new Error(`The document has no ${operationId}`);
}

/** The values of the parameters of a path, in their order. */
function valuesIn(template: string, path: string): Record<string, string> {
  const given = path.split('?')[0]?.split('/') ?? [];
  return Object.fromEntries(
    template.split('/').flatMap((part, index) => {
      const parameter = /^\{(.+)\}$/.exec(part)?.[1];
      return parameter === undefined ? [] : [[parameter, decodeURIComponent(given[index] ?? '')]];
    }),
  );
}

const isJson = ({ responses }: Operation) =>
  responses['200']?.content?.['application/json'] !== undefined;
const isForPeople = ({ access }: Route) => access === undefined || access.kinds.includes('user');

/** The last request of a call. Only reads reach the server. */
async function record(isRead: boolean, call: () => Promise<unknown>) {
  const real = globalThis.fetch;
  let last: { method: string; path: string; status: number } | undefined;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, { ...init, ...(init?.body && { duplex: 'half' }) });
    const answer = isRead
      ? await real(request)
      : new Response('{}', { headers: { 'content-type': 'application/json' } });
    const { pathname } = new URL(request.url);
    last = { method: request.method, path: pathname, status: answer.status };
    return answer;
  };
  try {
    // The client of hey-api requests a stream when it is read.
    const { stream } = ((await call()) ?? {}) as { stream?: AsyncGenerator };
    if (typeof stream?.next === 'function') await stream.next();
  } finally {
    globalThis.fetch = real;
  }
  return last;
}
