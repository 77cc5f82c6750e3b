import type { OpenAPIObject } from '@nestjs/swagger';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

type Path = OpenAPIObject['paths'][string];
export type Operation = NonNullable<Path[(typeof METHODS)[number]]>;

/** All operations of the document. */
export function operationsOf(document: OpenAPIObject): Operation[] {
  return Object.values(document.paths).flatMap((path) =>
    METHODS.flatMap((method) => path[method] ?? []),
  );
}
