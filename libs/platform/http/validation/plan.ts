import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import type { TransformMetadata } from 'class-transformer/types/interfaces/index.js';
import { getMetadataStorage, type ValidationArguments, ValidationTypes } from 'class-validator';
import type { Names } from '../dto/field.js';
import { messageOf } from './message.js';

export type DtoClass = new () => object;
type ValidationMetadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

/** The type that a query's text must become before it is checked. */
export type TextForm = 'number' | 'boolean' | 'list' | 'text';

export interface Rule {
  readonly each: boolean;
  applies(object: object, value: unknown): boolean;
  holds(value: unknown, args: ValidationArguments): boolean;
  message(args: ValidationArguments): string;
  /** The things that the value names by ids. */
  readonly names: Names | undefined;
  readonly constraints: readonly unknown[];
}

export interface FieldPlan {
  readonly name: string;
  readonly form: TextForm;
  readonly convert: ((value: unknown, object: object) => unknown) | undefined;
  readonly conditions: readonly ((object: object, value: unknown) => boolean)[];
  readonly rules: readonly Rule[];
  /** The class of the object, or of the list's items, if it has fields of its own. */
  readonly nested: (() => Plan) | undefined;
  readonly nestedIsList: boolean;
}

/** All work for one DTO class, read once from its decorators. */
export interface Plan {
  readonly type: DtoClass;
  readonly fields: readonly FieldPlan[];
  readonly names: ReadonlySet<string>;
}

const plans = new Map<DtoClass, Plan>();

/**
 * class-validator collects a class's decorators on each call by walking through every class of the
 * program. That alone would cost more than the rest of a heartbeat, so it is done once.
 */
export function planOf(type: DtoClass): Plan {
  const known = plans.get(type);
  if (known) return known;
  const plan = compile(type);
  plans.set(type, plan);
  return plan;
}

function compile(type: DtoClass): Plan {
  const storage = getMetadataStorage();
  const metadata = storage.getTargetValidationMetadatas(type, '', false, false);
  const byField = Object.entries(storage.groupByPropertyName(metadata));
  const fields = byField.map(([name, ofField]) => compileField(type, name, ofField));
  return { type, fields, names: new Set(fields.map((field) => field.name)) };
}

function compileField(type: DtoClass, name: string, metadata: ValidationMetadata[]): FieldPlan {
  const design: unknown = Reflect.getMetadata('design:type', type.prototype as object, name);
  const nested = metadata.find((item) => item.type === ValidationTypes.NESTED_VALIDATION);
  const conditional = metadata.filter(
    (item) => item.type === ValidationTypes.CONDITIONAL_VALIDATION,
  );
  return {
    name,
    form: formOf(design),
    convert: converterOf(type, name, design),
    conditions: conditional.map((item) => item.constraints[0] as FieldPlan['conditions'][number]),
    rules: metadata.filter(isCustomRule).flatMap(compileRules),
    nested: nested && nestedPlan(type, name, design),
    nestedIsList: nested !== undefined && (nested.each || design === Array),
  };
}

// @IsDefined is a rule like any other here, because no option skips missing properties.
function isCustomRule(metadata: ValidationMetadata): boolean {
  return metadata.constraintCls !== undefined;
}

function compileRules(metadata: ValidationMetadata): Rule[] {
  const validators = getMetadataStorage().getTargetValidatorConstraints(metadata.constraintCls);
  return validators.map((validator) => {
    const { instance } = validator;
    return {
      each: metadata.each,
      applies: metadata.validateIf ?? (() => true),
      holds: (value, args) => synchronous(instance.validate(value, args), validator.name),
      message: (args) => messageOf(metadata.message ?? instance.defaultMessage?.(args), args),
      constraints: metadata.constraints ?? [],
      names: metadata.context as Names | undefined,
    };
  });
}

function synchronous(result: boolean | Promise<boolean>, rule: string): boolean {
  if (typeof result !== 'boolean') throw new Error(`The rule ${rule} must answer at once`);
  return result;
}

function formOf(design: unknown): TextForm {
  if (design === Number) return 'number';
  if (design === Boolean) return 'boolean';
  return design === Array ? 'list' : 'text';
}

function nestedPlan(type: DtoClass, name: string, design: unknown): () => Plan {
  const declared = defaultMetadataStorage.findTypeMetadata(type, name)?.typeFunction();
  const nestedType = declared ?? (design === Object || design === Array ? undefined : design);
  if (typeof nestedType !== 'function') {
    throw new Error(`${type.name}.${name} is nested and needs @Type(() => ItsClass)`);
  }
  // Resolved when needed, because a class can nest itself.
  return () => planOf(nestedType as DtoClass);
}

const BUILT_IN_CONVERSIONS = new Map<unknown, (value: unknown) => unknown>([
  [Number, (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value)],
  [Boolean, (value) => (value === 'true' ? true : value === 'false' ? false : value)],
  [Date, (value) => (typeof value === 'string' ? new Date(value) : value)],
]);

const PLAIN_TO_CLASS = 0;

function converterOf(type: DtoClass, name: string, design: unknown): FieldPlan['convert'] {
  const declared = defaultMetadataStorage.findTypeMetadata(type, name)?.typeFunction();
  const convertType = design === Array ? undefined : BUILT_IN_CONVERSIONS.get(declared);
  const transforms = defaultMetadataStorage.findTransformMetadatas(type, name, PLAIN_TO_CLASS);
  if (!convertType && transforms.length === 0) return undefined;
  return (value, object) =>
    transforms.reduce(
      (current, transform) => applyTransform(transform, name, { current, object }),
      convertType ? convertType(value) : value,
    );
}

function applyTransform(
  transform: TransformMetadata,
  key: string,
  { current, object }: { current: unknown; object: object },
): unknown {
  const params = { value: current, key, obj: object, type: PLAIN_TO_CLASS, options: {} };
  return transform.transformFn(params) as unknown;
}
