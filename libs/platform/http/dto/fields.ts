import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import {
  HOST_PATTERN,
  HOST_RULE,
  ID_PREFIX,
  isStorableText,
  isTimeZone,
  isUuid,
  MAX_ALLOWED_HOSTS,
  MAX_ALLOWED_MODELS,
  MAX_HOST_PATTERN,
  MAX_MODEL_PATTERN,
  MODEL_PATTERN,
  MODEL_RULE,
} from '#lib/kernel';
import { type Collection, SHORT_ID } from '../parameters/short-ids.js';
import { field, type FieldOptions, type FieldRule, listField, type Names } from './field.js';

interface TextOptions extends FieldOptions {
  /** Minimum number of characters. Default: 1, which also refuses a blank text. */
  min?: number;
  /** Maximum number of characters. */
  max: number;
  /** A pattern and its description: "must …". */
  pattern?: { regexp: RegExp; words: string };
}

interface ListOptions extends FieldOptions {
  maxItems: number;
  minItems?: number;
}

/** A string that Postgres can store, with a length in characters (not bytes, not UTF-16 units). */
export function Text(options: TextOptions): PropertyDecorator {
  return field(textRule(options), options);
}

export function TextList(options: ListOptions & { item: TextOptions }): PropertyDecorator {
  return listField(textRule(options.item), options);
}

/** The hosts that sessions reach. */
export function HostList(options: FieldOptions): PropertyDecorator {
  const pattern = { regexp: HOST_PATTERN, words: `be ${HOST_RULE}` };
  const item = { max: MAX_HOST_PATTERN, pattern };
  return TextList({ ...options, maxItems: MAX_ALLOWED_HOSTS, item });
}

/** The models that coding agents can ask. */
export function ModelList(options: FieldOptions): PropertyDecorator {
  const pattern = { regexp: MODEL_PATTERN, words: `be ${MODEL_RULE}` };
  const item = { max: MAX_MODEL_PATTERN, pattern };
  return TextList({ ...options, maxItems: MAX_ALLOWED_MODELS, item });
}

/** A whole number from `min` to `max`. */
export function Int(min: number, max: number, options: FieldOptions = {}): PropertyDecorator {
  return field(intRule(min, max), options);
}

export function IntList(min: number, max: number, options: ListOptions): PropertyDecorator {
  return listField(intRule(min, max), options);
}

function intRule(min: number, max: number): FieldRule {
  return {
    name: 'int',
    message: `must be a whole number from ${min} to ${max}`,
    holds: (value: unknown) => Number.isInteger(value) && inRange(value as number, min, max),
    schema: { type: 'integer', minimum: min, maximum: max },
  };
}

/** A number from `min` to `max`, rounded to a whole number. */
export function Rounded(min: number, max: number, options: FieldOptions = {}): PropertyDecorator {
  const rule = {
    name: 'rounded',
    message: `must be a number from ${min} to ${max}`,
    holds: (value: unknown) => Number.isInteger(value) && inRange(value as number, min, max),
    schema: { type: 'number', minimum: min, maximum: max } as const,
  };
  const round = ({ value }: { value: unknown }) =>
    typeof value === 'number' ? Math.round(value) : value;
  return applyDecorators(Transform(round), field(rule, options));
}

const DIGITS = /^(?:0|[1-9]\d{0,18})$/;
const MAX_TOKENS = 2n ** 63n - 1n;

/**
 * Tokens: a whole number, or its digits if it may exceed JSON's numbers. The value becomes the
 * digits.
 */
export function TokenCount({
  min = 0n,
  max = MAX_TOKENS,
  ...options
}: FieldOptions & { min?: bigint; max?: bigint } = {}): PropertyDecorator {
  const largest = Number.MAX_SAFE_INTEGER;
  const asText = max > largest ? `; above ${largest} only the digits are exact` : '';
  const rule = {
    name: 'tokenCount',
    message: `must be a whole number from ${min} to ${max}, or its digits as a string${asText}`,
    holds: (value: unknown) =>
      typeof value === 'string' &&
      DIGITS.test(value) &&
      BigInt(value) >= min &&
      BigInt(value) <= max,
    schema: {
      oneOf: [
        { type: 'string', pattern: DIGITS.source },
        { type: 'integer', minimum: Number(min) },
      ],
    } as ApiPropertyOptions,
  };
  // A number that JSON has made inexact is invalid.
  const digits = ({ value }: { value: unknown }) =>
    Number.isSafeInteger(value) ? String(value) : value;
  return applyDecorators(Transform(digits), field(rule, options));
}

const USD = /^\d{1,9}(?:\.\d{1,12})?$/;

/** An amount in USD: a number, or a decimal text with at most twelve places. */
export function Usd({ max, ...options }: FieldOptions & { max: number }): PropertyDecorator {
  const rule = {
    name: 'usd',
    message: `must be an amount from 0 to ${max}, such as "0.0042"`,
    holds: (value: unknown) => {
      const isDecimal = typeof value === 'string' && USD.test(value);
      return (typeof value === 'number' || isDecimal) && inRange(Number(value), 0, max);
    },
    schema: {
      oneOf: [
        { type: 'string', pattern: USD.source },
        { type: 'number', minimum: 0 },
      ],
    } as ApiPropertyOptions,
  };
  return field(rule, options);
}

/** true or false. */
export function Flag(options: FieldOptions = {}): PropertyDecorator {
  const rule = {
    name: 'flag',
    message: 'must be true or false',
    holds: (value: unknown) => typeof value === 'boolean',
    schema: { type: 'boolean' } as const,
  };
  return field(rule, options);
}

/** One of the given texts. */
export function OneOf(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  return field(oneOfRule(values), options);
}

export function OneOfList(values: readonly string[], options: ListOptions): PropertyDecorator {
  return listField(oneOfRule(values), options);
}

/** An id that names nothing, or that the client chooses, or that no person sends: a UUID. */
export function WholeId(options: FieldOptions = {}): PropertyDecorator {
  return field(ID_RULE, options);
}

export function WholeIdList(options: ListOptions): PropertyDecorator {
  return listField(ID_RULE, options);
}

/**
 * The id of a thing of the workspace, or its first digits, which become the whole id. Digits of
 * several things are refused with 409.
 *
 * @param names the collection of the thing, or a function that reads it from the object
 */
export function Id(names: Collection | Names, options: FieldOptions = {}): PropertyDecorator {
  return field(named(names), withShortIds(options));
}

export function IdList(names: Collection | Names, options: ListOptions): PropertyDecorator {
  return listField(named(names), withShortIds(options));
}

function named(names: Collection | Names): FieldRule {
  const collections = typeof names === 'string' ? [names] : [];
  const read: Names = typeof names === 'string' ? () => collections : names;
  return { ...ID_RULE, names: read, schema: { ...SHORT_ID_SCHEMA } };
}

/** Adds to the description that ids can be shortened. */
export function withShortIds<T extends FieldOptions>(options: T): T {
  const before = options.description?.replace(/\.?$/, '. ') ?? '';
  return { ...options, description: `${before}${SHORT_ID}` };
}

/** A date and time with its offset, as in RFC 3339. It stays a string. */
export function Timestamp(options: FieldOptions = {}): PropertyDecorator {
  const rule = {
    name: 'timestamp',
    message: 'must be a date and time with an offset, such as 2026-01-31T12:00:00Z',
    holds: isTimestamp,
    schema: { type: 'string', format: 'date-time' } as const,
  };
  return field(rule, options);
}

/** The IANA name of a time zone. */
export function TimeZone(options: FieldOptions = {}): PropertyDecorator {
  const rule = {
    name: 'timeZone',
    message: 'must be the IANA name of a time zone, such as Europe/Berlin',
    holds: isTimeZone,
    schema: { type: 'string', example: 'Europe/Berlin' } as const,
  };
  return field(rule, options);
}

/** A JSON object with the client's own content. */
export function JsonObject(options: FieldOptions = {}): PropertyDecorator {
  const rule = {
    name: 'jsonObject',
    message: 'must be a JSON object',
    holds: isPlainObject,
    schema: { type: 'object', additionalProperties: true } as ApiPropertyOptions,
  };
  return field(rule, options);
}

/** An object of a class with its own decorators. */
export function Nested(
  type: () => new () => object,
  options: FieldOptions = {},
): PropertyDecorator {
  const validator = { validate: isPlainObject, defaultMessage: () => 'must be an object' };
  return applyDecorators(
    ValidateBy({ name: 'object', validator }),
    ValidateNested(),
    Type(type),
    present(options),
    ApiProperty({ type: () => type(), ...documented(options) } as ApiPropertyOptions),
  );
}

/** A list of objects of a class with its own decorators. */
export function NestedList(type: () => new () => object, options: ListOptions): PropertyDecorator {
  const { minItems = 0, maxItems } = options;
  const size = minItems > 0 ? `${minItems} to ${maxItems}` : `at most ${maxItems}`;
  // Both rules refuse what is no array.
  const message = `must be an array of ${size} items`;
  return applyDecorators(
    ArrayMinSize(minItems, { message }),
    ArrayMaxSize(maxItems, { message }),
    ValidateNested({ each: true }),
    Type(type),
    present(options),
    ApiProperty({
      // Swagger recognises a late type by the function's name, which the property gives it.
      type: () => [type()],
      minItems,
      maxItems,
      ...documented(options),
    } as ApiPropertyOptions),
  );
}

function present({ optional, nullable }: FieldOptions): PropertyDecorator {
  return ValidateIf(
    (_, value) => !(optional && value === undefined) && !(nullable && value === null),
  );
}

function documented({ optional = false, nullable, description, example }: FieldOptions) {
  return { required: !optional, ...(nullable ? { nullable } : {}), description, example };
}

/** The schema of an id that can be shortened. */
export const SHORT_ID_SCHEMA = { type: 'string', pattern: ID_PREFIX.source } as const;

const ID_RULE: FieldRule = {
  name: 'id',
  message: 'must be a UUID',
  holds: isUuid,
  schema: { type: 'string', format: 'uuid' },
};

function oneOfRule(values: readonly string[]): FieldRule {
  return {
    name: 'oneOf',
    message: `must be one of ${values.join(', ')}`,
    holds: (value) => typeof value === 'string' && values.includes(value),
    schema: { type: 'string', enum: [...values] },
  };
}

function textRule({ min = 1, max, pattern }: TextOptions): FieldRule {
  const length =
    min === 0 ? `of at most ${max}` : min === max ? `of ${max}` : `of ${min} to ${max}`;
  const words = pattern ? ` that must ${pattern.words}` : '';
  return {
    name: 'text',
    message: `must be a string ${length} characters${words}`,
    holds: (value) =>
      typeof value === 'string' &&
      isStorableText(value) &&
      inRange(characters(value, max), min, max) &&
      (min === 0 || value.trim() !== '') &&
      (pattern === undefined || pattern.regexp.test(value)),
    schema: {
      type: 'string',
      minLength: min,
      maxLength: max,
      ...(pattern ? { pattern: pattern.regexp.source } : {}),
    },
  };
}

// A character outside the basic plane takes two units. Counting them costs time and rarely matters.
function characters(text: string, max: number): number {
  if (text.length <= max || text.length > 2 * max) return text.length;
  return Array.from(text).length;
}

// Postgres accepts no offset of 16 hours or more.
const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:0\d|1[0-5]):\d\d)$/;

function isTimestamp(value: unknown): boolean {
  const match = typeof value === 'string' ? RFC_3339.exec(value) : null;
  if (!match || Number.isNaN(Date.parse(match[0]))) return false;
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number];
  // Date.parse reads 31 February as 3 March and accepts a year 0. Postgres does neither.
  return year > 0 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inRange(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}
