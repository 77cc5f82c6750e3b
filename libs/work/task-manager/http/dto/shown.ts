import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';

interface Words {
  description?: string;
  example?: unknown;
}

/** Documents the fields of answers. It validates nothing. */

export function ShownText(words: Words = {}): PropertyDecorator {
  return ApiProperty({ type: 'string', ...words } as ApiPropertyOptions);
}

export function ShownTextOrNull(words: Words = {}): PropertyDecorator {
  return ApiProperty({ type: 'string', nullable: true, ...words } as ApiPropertyOptions);
}

export function ShownId(words: Words = {}): PropertyDecorator {
  return ApiProperty({ type: 'string', format: 'uuid', ...words } as ApiPropertyOptions);
}

export function ShownIdOrNull(words: Words = {}): PropertyDecorator {
  return ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    ...words,
  } as ApiPropertyOptions);
}

export function ShownTime(words: Words = {}): PropertyDecorator {
  return ApiProperty({ type: 'string', format: 'date-time', ...words } as ApiPropertyOptions);
}

export function ShownTimeOrNull(words: Words = {}): PropertyDecorator {
  return ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    ...words,
  } as ApiPropertyOptions);
}

export function ShownInt(words: Words = {}): PropertyDecorator {
  return ApiProperty({ type: 'integer', ...words } as ApiPropertyOptions);
}

export function ShownIntOrNull(words: Words = {}): PropertyDecorator {
  return ApiProperty({ type: 'integer', nullable: true, ...words } as ApiPropertyOptions);
}

export function ShownFlag(words: Words = {}): PropertyDecorator {
  return ApiProperty({ type: 'boolean', ...words } as ApiPropertyOptions);
}

export function ShownIds(words: Words = {}): PropertyDecorator {
  return ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    ...words,
  } as ApiPropertyOptions);
}

export function ShownTexts(words: Words = {}): PropertyDecorator {
  return ApiProperty({
    type: 'array',
    items: { type: 'string' },
    ...words,
  } as ApiPropertyOptions);
}

export function ShownJson(
  words: Words & { additionalProperties?: object } = {},
): PropertyDecorator {
  return ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    ...words,
  } as ApiPropertyOptions);
}

export function ShownOneOf(values: readonly string[], words: Words = {}): PropertyDecorator {
  return ApiProperty({ type: 'string', enum: [...values], ...words } as ApiPropertyOptions);
}
