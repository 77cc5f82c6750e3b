import { ID_PREFIX } from '#lib/kernel';

/** The part of JSON schema that the server's document uses. References are resolved. */
export interface Schema {
  type?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  example?: unknown;
  nullable?: boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
}

/** Whether the value is an id, of which some callers can send the first digits. */
export function isShortId({ pattern, maxLength }: Schema): boolean {
  return pattern === ID_PREFIX.source && maxLength === undefined;
}

/** Whether the value is an id. */
export function isId(schema: Schema): boolean {
  return schema.format === 'uuid' || isShortId(schema);
}
