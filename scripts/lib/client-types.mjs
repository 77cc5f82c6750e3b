// Generates the types of libs/clients/api-client from the committed OpenAPI document when it
// changed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf, root } from './sources.mjs';

const LIBRARY = 'libs/clients/api-client';
const DOCUMENT = `${LIBRARY}/openapi.json`;
const MADE_OF = [
  DOCUMENT,
  'scripts/lib/client-types.mjs',
  'node_modules/openapi-typescript/package.json',
];
const BANNER = `// Made by the build from ${DOCUMENT}: change the routes and their DTOs instead.\n\n`;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const PROBLEM = { $ref: '#/components/schemas/Problem' };

export async function generateClientTypes() {
  if (!existsSync(join(root, DOCUMENT))) return;
  const folder = join(root, LIBRARY, 'generated');
  const [made, keyed, summaries, types] = ['.made-of', 'keyed.ts', 'summaries.ts', 'api.ts'].map(
    (name) => join(folder, name),
  );
  const key = hashOf(...MADE_OF);
  // A checkout of an older commit has them in git and removes them when it is left.
  const isThere = [made, keyed, summaries, types].every(existsSync);
  if (isThere && readFileSync(made, 'utf8') === key) return;
  const document = JSON.parse(readFileSync(join(root, DOCUMENT), 'utf8'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(keyed, keyedPosts(document));
  writeFileSync(summaries, summariesOf(document));
  writeFileSync(types, await apiTypes(document));
  writeFileSync(made, key);
}

/**
 * Every refusal is a `Problem`, so each operation has one answer `default` instead of its refusals
 * by status. That reduces the file to a third.
 */
async function apiTypes(document) {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  for (const item of Object.values(document.paths)) {
    for (const operation of METHODS.flatMap((method) => item[method] ?? []))
      operation.responses = withOneRefusal(operation.responses);
  }
  return BANNER + astToString(await openapiTS(document));
}

function withOneRefusal(responses) {
  const good = Object.entries(responses).filter(([status]) => /^[123]/.test(status));
  const content = { 'application/problem+json': { schema: PROBLEM } };
  return { ...Object.fromEntries(good), default: { description: 'A refusal', content } };
}

/** The POSTs that support Idempotency-Key: repetitions get the first answer. */
function keyedPosts({ paths }) {
  const isKeyed = ({ post }) =>
    post?.parameters?.some(({ name }) => name === 'Idempotency-Key') ?? false;
  const keyed = Object.keys(paths).filter((path) => isKeyed(paths[path]));
  const lines = keyed.map((path) => `  ${JSON.stringify(path)},`);
  return `${BANNER}export const KEYED: ReadonlySet<string> = new Set([\n${lines.join('\n')}\n]);\n`;
}

/** The sentence of each operation id, for people. */
function summariesOf({ paths }) {
  const operations = Object.values(paths).flatMap((item) => METHODS.flatMap((m) => item[m] ?? []));
  const lines = operations.map(
    ({ operationId, summary }) => `  ${JSON.stringify(operationId)}: ${JSON.stringify(summary)},`,
  );
  const type = 'Readonly<Record<string, string>>';
  return `${BANNER}export const SUMMARIES: ${type} = {\n${lines.sort().join('\n')}\n};\n`;
}
