import openapiTS, { astToString } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';

const BANNER =
  '// Made by `npm run openapi` from the OpenAPI document: change the routes and their DTOs instead.\n\n';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/**
 * The types of libs/clients/api-client, made of the document alone. Every refusal is a `Problem`, so each operation has one
 * answer `default` in place of its refusals by status: the file is a third of what it would be.
 */
export async function clientTypes(document: string): Promise<string> {
  const api = JSON.parse(document) as OpenAPI3;
  for (const item of Object.values(api.paths ?? {})) {
    for (const method of METHODS) {
      const operation = (item as Record<string, unknown>)[method];
      if (isOperation(operation)) operation.responses = withOneRefusal(operation.responses);
    }
  }
  return BANNER + astToString(await openapiTS(api));
}

/** The POSTs whose Idempotency-Key the server keeps: repeats of them get the first answer. */
export function keyedPosts(document: string): string {
  const { paths = {} } = JSON.parse(document) as OpenAPI3;
  const keyed = Object.entries(paths).filter(([, item]) => isKeyed(item));
  const lines = keyed.map(([path]) => `  ${JSON.stringify(path)},`);
  return `${BANNER}export const KEYED: ReadonlySet<string> = new Set([\n${lines.join('\n')}\n]);\n`;
}

function isKeyed(item: object): boolean {
  const { post } = item as { post?: { parameters?: { name?: string }[] } };
  return (post?.parameters ?? []).some(({ name }) => name === 'Idempotency-Key');
}

type Responses = Record<string, unknown>;

function isOperation(value: unknown): value is { responses: Responses } {
  return typeof value === 'object' && value !== null && 'responses' in value;
}

function withOneRefusal(responses: Responses): Responses {
  const good = Object.entries(responses).filter(([status]) => /^[123]/.test(status));
  const content = { 'application/problem+json': { schema: PROBLEM } };
  return { ...Object.fromEntries(good), default: { description: 'A refusal', content } };
}

const PROBLEM = { $ref: '#/components/schemas/Problem' };
