import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Wire, WireAnswer } from './requests.js';

/** The part of the document that answers are compared with. */
export interface AnswersDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

export interface DocumentedOperation {
  parameters?: { in: string; name: string }[];
  security?: Record<string, unknown>[];
  responses: Record<string, DocumentedAnswer>;
}

export interface DocumentedAnswer {
  content?: Record<string, { schema?: unknown }>;
}

export type Conformity = (
  wire: Pick<Wire, 'method' | 'path'>,
  answer: Pick<WireAnswer, 'status' | 'headers' | 'text'>,
) => string[];

const known = new Map<string, Promise<Conformity>>();

/** Compares answers of the server at `url` with its own OpenAPI document. */
export function conformityOf(url: string): Promise<Conformity> {
  const before = known.get(url);
  if (before) return before;
  const conformity = readDocument(url).then(compile);
  known.set(url, conformity);
  return conformity;
}

export async function readDocument(url: string): Promise<AnswersDocument> {
  const response = await fetch(`${url}/docs/openapi.json`);
  return (await response.json()) as AnswersDocument;
}

/** Lists the differences between an answer and the document; empty: none. */
export function compile(document: AnswersDocument): Conformity {
  const ajv = new Ajv({ strict: false, allErrors: true, inlineRefs: false });
  addFormats.default(ajv);
  ajv.addSchema({
    $id: 'document',
    components: { schemas: strictSchemas(document.components.schemas) },
  });
  const routes = routesOf(document);
  const validators = new Map<unknown, ValidateFunction>();
  const validatorOf = (schema: unknown): ValidateFunction => {
    const validator = validators.get(schema) ?? ajv.compile(strict(schema) as object);
    validators.set(schema, validator);
    return validator;
  };

  return ({ method, path }, { status, headers, text }) => {
    const [bare = ''] = path.split('?');
    const route = routes.find((one) => one.method === method && one.pattern.test(bare));
    // A malformed id can match no route. Other tests cover that.
    if (!route) return [];
    const documented = route.responses[String(status)];
    if (!documented && status < 400) return [`${status} is not documented`];
    const answer = documented ?? route.responses.default;
    const [entry] = Object.entries(answer?.content ?? {});
    if (!entry) return text === '' ? [] : [`has a body, where none is documented`];
    const [type, { schema }] = entry;
    if (!headers.get('content-type')?.startsWith(type)) {
      return [`is ${headers.get('content-type')}, not ${type}`];
    }
    const validate = validatorOf(schema);
    if (validate(type.endsWith('json') ? JSON.parse(text) : text)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath || 'body'} ${message} ${JSON.stringify(params)}`,
    );
  };
}

/** Errors add members to the problem document, such as `current` and `legal`. */
function strictSchemas(schemas: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(schemas).map(([name, schema]) => {
    const made = strict(schema) as object;
    return [name, name.endsWith('Problem') ? { ...made, additionalProperties: true } : made];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function routesOf(document: AnswersDocument) {
  return Object.entries(document.paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { responses }]) => ({
        method: method.toUpperCase(),
        params: path.split('{').length,
        pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
        responses,
      })),
    )
    .sort((a, b) => a.params - b.params);
}

/**
 * References are resolved within the document. The comparison is stricter than the document: it
 * forbids fields that the document does not name.
 */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const made = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' ? String(value).replace('#', 'document#') : strict(value),
    ]),
  );
  const isObject = made.type === 'object' && made.properties !== undefined;
  if (isObject && made.additionalProperties === undefined) made.additionalProperties = false;
  return made;
}
