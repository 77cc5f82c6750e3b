import type { OpenAPIObject } from '@nestjs/swagger';
import {
  CATALOGUE,
  type CataloguedEvent,
  ENVELOPE,
  exampleOf,
  type EventName,
} from '../domain/catalogue.js';
import type { Field } from '../domain/field.js';

type Schema = Record<string, unknown>;
type Webhooks = Record<string, { post: Schema }>;

/**
 * Describes the events in the section `webhooks` of the document with the schemas of their bodies.
 */
export function describeEvents(document: OpenAPIObject): void {
  const names = Object.keys(CATALOGUE) as EventName[];
  const operations = names.map((name) => [name, { post: operationOf(name) }]);
  (document as { webhooks?: Webhooks }).webhooks = Object.fromEntries(operations) as Webhooks;
}

function operationOf(name: EventName): Schema {
  const { about }: CataloguedEvent = CATALOGUE[name];
  const content = { schema: schemaOf(name), example: exampleOf(name) };
  return {
    operationId: `send${pascal(name)}`,
    summary: about,
    description:
      'The body of the event, as the stream of events and the channels of Valkey carry it.',
    tags: ['Events'],
    security: [],
    requestBody: { required: true, content: { 'application/json': content } },
    responses: {
      '2XX': { description: 'The receiver accepted the event.' },
      '4XX': { description: 'The receiver did not accept the event.' },
    },
  };
}

function schemaOf(name: EventName): Schema {
  const { fields }: CataloguedEvent = CATALOGUE[name];
  const all = Object.entries<Field<unknown>>({ ...ENVELOPE, ...fields });
  const described = all.map(([key, { about, schema }]) => [key, { ...schema, description: about }]);
  return {
    type: 'object',
    properties: { ...Object.fromEntries(described), event: { type: 'string', enum: [name] } },
    required: all.filter(([, { optional }]) => !optional).map(([key]) => key),
  };
}

/** `task.status_changed` is `TaskStatusChanged`. */
function pascal(name: string): string {
  return name.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
