import type { TokenCaller } from '#lib/kernel';
import { sampleOf } from './samples.js';
import { isId, type Schema } from './schemas.js';

export type CallerKind = TokenCaller['kind'];

export interface Parameter {
  name: string;
  schema: Schema;
}

export interface Access {
  kinds: CallerKind[];
  role?: string;
  scope?: string;
  operator?: boolean;
}

/** One route of the document. */
export interface Route {
  operationId: string;
  /** `POST /agents/{id}/claim`: below /api/v1, as in the tables of these tests. */
  name: string;
  method: string;
  /** The path with `{id}` in it. */
  path: string;
  pathParams: Parameter[];
  queryParams: Parameter[];
  body?: Schema;
  /** Undefined for a public route. */
  access?: Access;
}

interface RawOperation {
  operationId: string;
  security?: object[];
  parameters?: { in: string; name: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  'x-drover-access'?: Access;
}

interface RawDocument {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema> };
}

type RawSchema = Omit<Schema, 'type'> & {
  type?: string | string[];
  $ref?: string;
  allOf?: RawSchema[];
  anyOf?: RawSchema[];
};

/**
 * Other services sign the bytes of an event, and the server signs links to files.
 * libs/events/inbound-hooks and libs/agents/artifacts have their tests.
 */
const SIGNED = ['POST /hooks/{id}', 'GET /artifacts/{id}/content'];

/** Returns all routes that the running server documents, first the API's, without signed ones. */
export async function readRoutes(url: string): Promise<Route[]> {
  const response = await fetch(`${url}/docs/openapi.json`);
  const document = (await response.json()) as RawDocument;
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      toRoute(document, { path, method: method.toUpperCase(), operation }),
    ),
  );
  return all.filter(({ name }) => !SIGNED.includes(name));
}

function toRoute(
  document: RawDocument,
  { path, method, operation }: { path: string; method: string; operation: RawOperation },
): Route {
  const parameters = operation.parameters ?? [];
  const within = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema }) => ({ name, schema: resolve(document, schema) }));
  const body = operation.requestBody?.content['application/json']?.schema;
  // Gateways have their own guard.
  const isProtected = (operation.security ?? []).some((one) => !('gatewayToken' in one));
  const access = operation['x-drover-access'];
  if (isProtected !== (access !== undefined))
    throw new Error(`${method} ${path}: who may call it?`);
  const isFree = ({ schema }: Parameter) => !isId(schema) && schema.enum === undefined;
  // The name of a file or of a host names nothing of a tenant.
  const words = within('path').filter(isFree);
  return {
    operationId: operation.operationId,
    name: `${method} ${path.replace(/^\/api\/v1/, '')}`,
    method,
    path: words.reduce(withSample, path),
    pathParams: within('path').filter((parameter) => !isFree(parameter)),
    queryParams: within('query'),
    ...(body ? { body: resolve(document, body) } : {}),
    ...(access ? { access } : {}),
  };
}

function withSample(path: string, { name, schema }: Parameter): string {
  const sample = String(schema.example ?? sampleOf(schema));
  return path.replace(`{${name}}`, encodeURIComponent(sample));
}

function resolve(document: RawDocument, raw: RawSchema): Schema {
  if (isOrNull(raw)) return { ...resolve(document, withoutNull(raw)), nullable: true };
  const { $ref, allOf, type, ...schema } = raw;
  const name = $ref?.split('/').at(-1);
  if (name !== undefined) return resolve(document, document.components.schemas[name] as RawSchema);
  if (allOf) return { ...schema, ...resolve(document, allOf[0] as RawSchema) };
  return {
    ...schema,
    ...(type === undefined ? {} : { type: String(type) }),
    ...(schema.items ? { items: resolve(document, schema.items) } : {}),
    ...(schema.oneOf ? { oneOf: schema.oneOf.map((one) => resolve(document, one)) } : {}),
    ...(schema.properties
      ? {
          properties: Object.fromEntries(
            Object.entries(schema.properties).map(([key, value]) => [
              key,
              resolve(document, value),
            ]),
          ),
        }
      : {}),
  };
}

/** Null is a type like others in the document. These tests keep it apart. */
function isOrNull({ type, anyOf = [] }: RawSchema): boolean {
  return (Array.isArray(type) && type.includes('null')) || anyOf.some((one) => one.type === 'null');
}

function withoutNull({ type, anyOf, ...schema }: RawSchema): RawSchema {
  return {
    ...schema,
    ...(Array.isArray(type) ? { type: type.find((one) => one !== 'null') } : {}),
    ...(schema.enum ? { enum: schema.enum.filter((value) => value !== null) } : {}),
    ...(anyOf ? { allOf: anyOf.filter((one) => one.type !== 'null') } : {}),
  };
}
