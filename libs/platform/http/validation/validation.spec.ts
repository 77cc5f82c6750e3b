import { describe, expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
  ValidateNested,
  validateSync,
} from 'class-validator';
import fc from 'fast-check';
import { PartialType } from '@nestjs/swagger';
import { DroverError, type FieldError } from '#lib/kernel';
import { Flag, WholeIdList, Int, NestedList, OneOf, Text, Timestamp } from '../dto/fields.js';
import { validateDto } from './pipe.js';
import { MAX_FIELD_ERRORS } from './run.js';

class InnerDto {
  @IsString() @MaxLength(3) name!: string;
}

class BaseDto {
  @IsOptional() @IsInt() @Min(1) @Max(10) priority?: number;
}

/** Written with class-validator's own decorators, as in much of the code. */
class OuterDto extends BaseDto {
  @IsString() @MinLength(1) title!: string;
  @IsOptional() @IsEmail() email?: string;
  @IsOptional() @IsIn(['a', 'b']) kind?: string;
  @IsOptional() @IsArray() @ArrayMaxSize(2) @IsString({ each: true }) tags?: string[];
  @IsOptional() @ValidateNested() @Type(() => InnerDto) inner?: InnerDto;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => InnerDto) list?: InnerDto[];
  @ValidateIf((object: OuterDto) => object.kind === 'a') @IsString() reason?: string;
}

class OwnDto {
  @Text({ min: 2, max: 4 }) text!: string;
  @Int(0, 1, { optional: true, nullable: true }) share?: number | null;
  @Flag({ optional: true }) flag?: boolean;
  @Timestamp({ optional: true }) at?: string;
  @WholeIdList({ maxItems: 2, minItems: 1, optional: true }) ids?: string[];
}

function errorsOf(type: new () => object, value: unknown, fromQuery = false): FieldError[] {
  try {
    validateDto(type, value, fromQuery);
    return [];
  } catch (error) {
    return (error as DroverError).extras.errors ?? [];
  }
}

const fieldsOf = (...args: Parameters<typeof errorsOf>) => errorsOf(...args).map((e) => e.field);

describe('class-validator`s decorators', () => {
  it.each([
    [{ title: 'x' }, []],
    [{ title: 'x', priority: 3, email: 'a@b.example', kind: 'b', tags: ['x'] }, []],
    [{ title: 'x', inner: { name: 'abc' }, list: [{ name: 'a' }] }, []],
    [{}, ['title']],
    [{ title: 1 }, ['title']],
    [{ title: 'x', priority: 11 }, ['priority']],
    [{ title: 'x', tags: ['x', 1] }, ['tags[1]']],
    [{ title: 'x', tags: 'x' }, ['tags']],
    [{ title: 'x', inner: { name: 'abcd' } }, ['inner.name']],
    [{ title: 'x', inner: 5 }, ['inner']],
    [{ title: 'x', inner: [] }, ['inner']],
    [{ title: 'x', list: [{ name: 'a' }, { nam: 'a' }] }, ['list[1].nam', 'list[1].name']],
    [{ title: 'x', list: {} }, ['list']],
    [{ title: 'x', kind: 'a' }, ['reason']],
    [{ title: 'x', kind: 'a', reason: 'r' }, []],
    [{ title: 'x', hasOwnProperty: 1 }, ['hasOwnProperty']],
  ])('%j fails at %j', (value, fields) => {
    expect(fieldsOf(OuterDto, value).sort()).toEqual(fields.sort());
  });

  it("messages do not repeat the field's name", () => {
    expect(errorsOf(OuterDto, { title: 5 })).toEqual([
      { field: 'title', message: expect.stringMatching(/^must be/) },
    ]);
    expect(errorsOf(OuterDto, { title: 'x', tags: [1] })[0]?.message).toBe('must be a string');
  });

  it('rules hold after inheritance and in mapped types', () => {
    class PatchDto extends PartialType(OuterDto) {}
    expect(fieldsOf(PatchDto, {})).toEqual([]);
    expect(fieldsOf(PatchDto, { priority: 0, list: [{ name: 'long' }] }).sort()).toEqual([
      'list[0].name',
      'priority',
    ]);
  });

  it('results agree with class-validator for all values', () => {
    const value = fc.oneof(
      fc.constantFrom(undefined, null, 0, 1, 5, 11, 1.5, '', 'a', 'b', 'a@b.example', true, []),
      fc.array(fc.constantFrom('x', 1, null), { maxLength: 3 }),
    );
    const dto = fc.record({
      title: value,
      priority: value,
      email: value,
      kind: value,
      tags: value,
      reason: value,
    });
    fc.assert(
      fc.property(dto, (raw) => {
        const theirs = validateSync(Object.assign(new OuterDto(), raw), { whitelist: true });
        const ours = new Set(fieldsOf(OuterDto, raw).map((field) => field.replace(/\[.*/, '')));
        expect([...ours].sort()).toEqual(theirs.map((error) => error.property).sort());
      }),
      { numRuns: 200 },
    );
  });
});

describe("Drover's own decorators", () => {
  it.each([
    [{ text: 'ab' }, []],
    [{ text: '😀😀😀😀' }, []],
    [{ text: '😀😀😀😀😀' }, ['text']],
    [{ text: 'a' }, ['text']],
    [{ text: '    ' }, ['text']],
    [{ text: 'a\u0000b' }, ['text']],
    [{ text: 'ab', share: null, flag: false, at: '2026-01-31T12:00:00.123+02:00' }, []],
    [{ text: 'ab', at: '2028-02-29T12:00:00Z' }, []],
    [{ text: 'ab', at: '2026-02-29T12:00:00Z' }, ['at']],
    [{ text: 'ab', at: '0000-01-01T00:00:00Z' }, ['at']],
    [{ text: 'ab', at: '2026-01-31T12:00:00+16:00' }, ['at']],
    [{ text: 'ab', flag: null }, ['flag']],
    [{ text: 'ab', share: Number.NaN }, ['share']],
    [{ text: 'ab', at: '2026-01-31' }, ['at']],
    [{ text: 'ab', at: '2026-13-31T12:00:00Z' }, ['at']],
    [{ text: 'ab', ids: [] }, ['ids']],
    [{ text: 'ab', ids: ['0199f0c4-0000-7000-8000-000000000001'] }, []],
    [{ text: 'ab', ids: ['x'] }, ['ids']],
  ])('%j fails at %j', (value, fields) => {
    expect(fieldsOf(OwnDto, value)).toEqual(fields);
  });
});

describe('queries', () => {
  class ListQuery {
    @Int(1, 9, { optional: true }) limit: number = 5;
    @Flag({ optional: true }) live?: boolean;
    @OneOf(['a', 'b'], { optional: true }) kind?: string;
    @IsOptional() @IsString({ each: true }) tags?: string[];
    @Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.trim() : value,
    )
    @IsOptional()
    @IsString()
    text?: string;
    @Type(() => Number) @IsOptional() @IsInt() count?: unknown;
  }

  it('query texts become the types of their fields', () => {
    const query = { limit: '7', live: 'true', tags: 'x,y', text: ' t ', count: '3' };
    expect({ ...validateDto(ListQuery, query, true) }).toEqual({
      limit: 7,
      live: true,
      kind: undefined,
      tags: ['x', 'y'],
      text: 't',
      count: 3,
    });
    expect(validateDto(ListQuery, {}, true).limit).toBe(5);
  });

  it.each(['', ' 1', '0x1', '1e1', '+1', 'NaN', 'Infinity', '1'.repeat(30), '１'])(
    'the query text %j is no number',
    (limit) => {
      expect(fieldsOf(ListQuery, { limit }, true)).toEqual(['limit']);
    },
  );
});

describe('many errors', () => {
  it('an answer lists at most fifty errors', () => {
    const value = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`f${i}`, 1]));
    expect(errorsOf(OwnDto, value)).toHaveLength(MAX_FIELD_ERRORS);
  });
});

class ListsDto {
  @NestedList(() => InnerDto, { maxItems: 3 }) few!: InnerDto[];
  @NestedList(() => InnerDto, { maxItems: 3, minItems: 2 }) some!: InnerDto[];
}

it.each([
  ['null', null],
  ['a text', 'x'],
])('the error of a list that is %s names its sizes', (_, value) => {
  const found = errorsOf(ListsDto, { few: value, some: value });
  expect(found.map(({ message }) => message)).toEqual([
    'must be an array of at most 3 items',
    'must be an array of 2 to 3 items',
  ]);
});
