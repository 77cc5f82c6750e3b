import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Schema {
  properties?: Record<string, { enum?: string[] }>;
}

const file = join(import.meta.dirname, '../../../libs/clients/api-client/openapi.json');
const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as {
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, Schema> };
};

/** Every route of the API, such as `GET /api/v1/agents/{id}`. */
export const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

/** Returns the properties of a schema of the API. */
export function propertiesOf(schema: string): NonNullable<Schema['properties']> {
  const { properties } = components.schemas[schema] ?? {};
  if (!properties) throw new Error(`The API has no schema ${schema}`);
  return properties;
}
