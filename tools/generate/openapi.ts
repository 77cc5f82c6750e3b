import { loadConfig } from '#lib/config';
import { Logger } from '#lib/observability';
import { createApp } from '../../apps/server/create-app.js';
import type { Generated } from './generated.js';
import { lintOpenApi } from './openapi-lint.js';

const WIDTH = 100;
const FILE = 'libs/clients/api-client/openapi.json';

/** The application is created, but does not listen. */
const NOWHERE = {
  DATABASE_URL: 'postgres://app:app@127.0.0.1:1/drover',
  DATABASE_SERVICE_URL: 'postgres://service:service@127.0.0.1:1/drover',
  VALKEY_URL: 'redis://127.0.0.1:1',
  JWT_SECRET: 'x'.repeat(32),
  ENCRYPTION_KEYS: `1:${Buffer.alloc(32).toString('base64')}`,
};

/** Returns the OpenAPI document as it is committed, and the findings of the linter. */
export async function generateOpenApi(): Promise<Generated> {
  const document = await readDocument();
  const problems = await lintOpenApi(document);
  return { files: { [FILE]: formatDocument(document) }, problems };
}

/** Returns the document that a server shows at /docs/openapi.json, without a server. */
async function readDocument(): Promise<string> {
  const app = await createApp(loadConfig(NOWHERE), Logger.create({ level: 'silent' }));
  await app.init();
  const { body } = await app.inject({ url: '/docs/openapi.json' });
  return body;
}

interface Document {
  paths: Record<string, unknown>;
  webhooks: Record<string, unknown>;
  components: Record<string, Record<string, unknown>>;
}

/** Paths, webhooks and components are sorted by name, so that a moved class changes no line. */
function formatDocument(text: string): string {
  const document = JSON.parse(text) as Document;
  const { paths, webhooks, components } = document;
  const parts = Object.entries(components).map(([kind, named]) => [kind, sortByName(named)]);
  return `${toLines({
    ...document,
    paths: sortByName(paths),
    webhooks: sortByName(webhooks),
    components: sortByName(Object.fromEntries(parts) as Document['components']),
  })}\n`;
}

function sortByName<T>(named: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Prints JSON: objects and lists that fit into a line take one line, others one line for each
 * member.
 */
function toLines(value: unknown, indent = '', label = ''): string {
  const line = `${indent}${label}${toLine(value)}`;
  if (line.length < WIDTH || typeof value !== 'object' || value === null) return line;
  const members = Array.isArray(value)
    ? value.map((member) => toLines(member, `${indent}  `))
    : Object.entries(value).map(([key, member]) => toLines(member, `${indent}  `, labelOf(key)));
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${indent}${label}${open}\n${members.join(',\n')}\n${indent}${close}`;
}

function toLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => labelOf(key) + toLine(member));
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const labelOf = (key: string): string => `${JSON.stringify(key)}: `;
