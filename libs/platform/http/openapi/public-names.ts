import type { OpenAPIObject } from '@nestjs/swagger';

const SUFFIX = 'Dto';
const POINTER = '#/components/schemas/';

/**
 * Gives each schema the name of its object: the class `TaskDto` is `Task` in the document.
 *
 * @throws Error if two classes would get the same name
 */
export function withPublicNames(document: OpenAPIObject): OpenAPIObject {
  const { components = {} } = document;
  const schemas: NonNullable<typeof components.schemas> = {};
  for (const [name, schema] of Object.entries(components.schemas ?? {})) {
    const publicName = withoutSuffix(name);
    if (publicName in schemas) throw new Error(`Two schemas have the public name ${publicName}`);
    schemas[publicName] = schema;
  }
  return withPublicPointers({ ...document, components: { ...components, schemas } });
}

function withPublicPointers<T>(part: T): T {
  if (typeof part === 'string') return (part.startsWith(POINTER) ? withoutSuffix(part) : part) as T;
  if (Array.isArray(part)) return part.map(withPublicPointers) as T;
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, value]) => [key, withPublicPointers(value)]);
  return Object.fromEntries(entries) as T;
}

function withoutSuffix(name: string): string {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name;
}
