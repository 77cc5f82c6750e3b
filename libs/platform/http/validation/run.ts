import type { ValidationArguments } from 'class-validator';
import { type FieldError, isStorableText } from '#lib/kernel';
import type { ShortId } from '../parameters/short-ids.js';
import { expandIds } from './expand-ids.js';
import type { FieldPlan, Plan, Rule } from './plan.js';

/**
 * Maximum number of errors in one answer. A batch of a thousand bad items needs no thousand lines.
 */
export const MAX_FIELD_ERRORS = 50;

/** The position in the request, for the names of the fields. */
export interface Visit {
  readonly errors: FieldError[];
  readonly fromQuery: boolean;
  /** Collects the first digits of ids. Undefined: ids must be whole. */
  readonly shortIds?: ShortId[] | undefined;
}

/**
 * Builds an instance of the plan's class from `raw`. Adds an error for each deviation: unknown
 * fields, broken rules, text that cannot be stored.
 */
export function build(plan: Plan, raw: unknown, path: string, visit: Visit): object {
  const instance = new plan.type();
  if (!isObject(raw)) {
    report(visit, path === '' ? 'body' : path, 'must be an object');
    return instance;
  }
  refuseUnknown(plan, raw, path, visit);
  for (const field of plan.fields) buildField(field, { raw, instance, path, visit });
  return instance;
}

function refuseUnknown(plan: Plan, raw: object, path: string, visit: Visit): void {
  for (const name in raw) {
    if (!plan.names.has(name)) {
      const what = visit.fromQuery ? 'is not a parameter of this path' : 'is not a known field';
      report(visit, join(path, name), what);
    }
  }
}

interface FieldVisit {
  raw: Record<string, unknown>;
  instance: object;
  path: string;
  visit: Visit;
}

function buildField(field: FieldPlan, { raw, instance, path, visit }: FieldVisit): void {
  const target = instance as Record<string, unknown>;
  // Own properties only, because `constructor` and the like come from no request.
  const given = Object.hasOwn(raw, field.name) ? raw[field.name] : undefined;
  const text = visit.fromQuery && given !== undefined ? fromText(field, given) : given;
  const value = field.convert ? field.convert(text, raw) : text;
  if (value !== undefined) target[field.name] = value;
  const current = target[field.name];

  if (!field.conditions.every((condition) => condition(target, current))) return;
  const name = join(path, field.name);
  if (visit.fromQuery && !isQueryValue(field, current, name, visit)) return;
  if (!rulesHold(field, { target, value: current, name, visit })) return;
  if (field.nested && current !== undefined) {
    target[field.name] = buildNested(field, field.nested(), { value: current, name, visit });
  }
}

interface RuleVisit {
  target: object;
  value: unknown;
  name: string;
  visit: Visit;
}

/**
 * @returns false if an error was reported, so that one wrong type is one error, not five
 */
function rulesHold(field: FieldPlan, at: RuleVisit): boolean {
  let args: ValidationArguments | undefined;
  for (const rule of field.rules) {
    args = argsOf(field, rule, at);
    if (!rule.applies(at.target, at.value)) continue;
    if (rule.each && Array.isArray(at.value)) {
      const wrong = at.value.findIndex((item) => !rule.holds(item, args as ValidationArguments));
      if (wrong === -1) continue;
      report(at.visit, `${at.name}[${wrong}]`, withoutEach(rule.message(args)));
      return false;
    }
    if (rule.each || !(rule.holds(at.value, args) || holdsForWholeIds(field, rule, at, args))) {
      report(at.visit, at.name, rule.message(args));
      return false;
    }
  }
  return true;
}

/** True if the rule holds with whole ids in place of digits, which then wait for their ids. */
function holdsForWholeIds(
  field: FieldPlan,
  { names, holds }: Rule,
  { target, name, visit }: RuleVisit,
  args: ValidationArguments,
): boolean {
  if (names === undefined || visit.shortIds === undefined) return false;
  // The collections can depend on fields that follow.
  const collections = () => names(target);
  const shortIds = expandIds(target, field.name, { collections, field: name });
  if (shortIds.length === 0) return false;
  if (!holds((target as Record<string, unknown>)[field.name], args)) return false;
  visit.shortIds.push(...shortIds);
  return true;
}

function argsOf(
  field: FieldPlan,
  rule: Rule,
  at: { target: object; value: unknown },
): ValidationArguments {
  return {
    value: at.value,
    constraints: rule.constraints as unknown[],
    targetName: at.target.constructor.name,
    object: at.target,
    property: field.name,
  };
}

function withoutEach(message: string): string {
  return message.replace(/^each value in \S+ /, '');
}

function buildNested(
  field: FieldPlan,
  plan: Plan,
  at: { value: unknown; name: string; visit: Visit },
): unknown {
  const { value, name, visit } = at;
  if (!field.nestedIsList) return build(plan, value, name, visit);
  if (!Array.isArray(value)) {
    report(visit, name, 'must be an array');
    return value;
  }
  return value.map((item, index) => build(plan, item, `${name}[${index}]`, visit));
}

/** A query string has only text. A repeated parameter is a list, and a list can use commas. */
function fromText(field: FieldPlan, given: unknown): unknown {
  if (field.form === 'list') {
    return (Array.isArray(given) ? given : [given]).flatMap((part) => String(part).split(','));
  }
  if (typeof given !== 'string') return given;
  if (field.form === 'number')
    return /^-?\d{1,15}(\.\d{1,10})?$/.test(given) ? Number(given) : given;
  if (field.form === 'boolean') {
    return given === 'true' ? true : given === 'false' ? false : given;
  }
  return given;
}

function isQueryValue(field: FieldPlan, value: unknown, name: string, visit: Visit): boolean {
  if (Array.isArray(value) && field.form !== 'list') {
    report(visit, name, 'must be given once');
    return false;
  }
  const texts = Array.isArray(value) ? value : [value];
  if (texts.every((text) => typeof text !== 'string' || isStorableText(text))) return true;
  report(visit, name, 'holds a NUL character or a lone surrogate');
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function report(visit: Visit, field: string, message: string): void {
  if (visit.errors.length < MAX_FIELD_ERRORS) visit.errors.push({ field, message });
}
