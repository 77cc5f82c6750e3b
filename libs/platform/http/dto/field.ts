import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';
import type { Collection } from '../parameters/short-ids.js';

export interface FieldOptions {
  /** The field is optional. */
  optional?: boolean;
  /** The field can be null. */
  nullable?: boolean;
  description?: string;
  example?: unknown;
}

export interface FieldRule {
  /** Name of the rule for class-validator. */
  name: string;
  /** The things that the field names by ids. Undefined: the ids must be whole. */
  names?: Names;
  /** The text after the field's name when the rule fails. */
  message: string;
  holds(value: unknown): boolean;
  /** The field's description in the OpenAPI document. */
  schema: ApiPropertyOptions;
}

/** The collections of the things that a field of the request's object names. */
export type Names = (object: object) => readonly Collection[];

/** One rule with its optionality and its part of the OpenAPI document. */
export function field(rule: FieldRule, options: FieldOptions): PropertyDecorator {
  const { optional = false, nullable = false, description, example } = options;
  const message = nullable ? `${rule.message}, or null` : rule.message;
  const validator = { validate: rule.holds, defaultMessage: () => message };
  return applyDecorators(
    ValidateBy({ name: rule.name, validator }, { context: rule.names }),
    ValidateIf((_, value) => !(optional && value === undefined) && !(nullable && value === null)),
    ApiProperty({
      ...rule.schema,
      required: !optional,
      ...(nullable ? { nullable } : {}),
      ...(description === undefined ? {} : { description }),
      ...(example === undefined ? {} : { example }),
    } as ApiPropertyOptions),
  );
}

/** The same rule for every item of a list. */
export function listField(
  rule: FieldRule,
  options: FieldOptions & { maxItems: number; minItems?: number },
): PropertyDecorator {
  const { minItems = 0, maxItems, ...rest } = options;
  const size = minItems === 0 ? `at most ${maxItems}` : `${minItems} to ${maxItems}`;
  const list: FieldRule = {
    ...rule,
    name: `${rule.name}List`,
    message: `must be an array of ${size} items, each of which ${rule.message}`,
    holds: (value) =>
      Array.isArray(value) &&
      value.length >= minItems &&
      value.length <= maxItems &&
      value.every((item) => rule.holds(item)),
    schema: { type: 'array', items: rule.schema, minItems, maxItems } as ApiPropertyOptions,
  };
  return field(list, rest);
}
