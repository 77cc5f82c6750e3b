import { type FieldError, isStorableText } from '#lib/kernel';

/** Maximum nesting of arrays and objects in a body, unless the adapter has another limit. */
export const MAX_JSON_DEPTH = 64;

interface Place {
  value: unknown;
  key: string | number;
  parent: Place | undefined;
  depth: number;
}

/**
 * The first value in parsed JSON that cannot be stored (a NUL character, a lone surrogate, a number
 * out of range, more than `maxDepth` levels) or that would pollute a prototype.
 */
export function findUnsafe(root: unknown, maxDepth: number): FieldError | undefined {
  const stack: Place[] = [{ value: root, key: '', parent: undefined, depth: 1 }];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const message = whyUnsafe(place, maxDepth);
    if (message !== undefined) return { field: pathOf(place), message };
    pushChildren(place, stack);
  }
  return undefined;
}

function whyUnsafe({ value, key, depth }: Place, maxDepth: number): string | undefined {
  if (typeof key === 'string') {
    if (key === '__proto__') return 'is not allowed as a key';
    if (!isStorableText(key)) return 'is a key with a NUL character or a lone surrogate';
  }
  if (typeof value === 'string') {
    return isStorableText(value) ? undefined : 'holds a NUL character or a lone surrogate';
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : 'is a number out of range';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > maxDepth) return `is nested more than ${maxDepth} levels deep`;
  const poisons = key === 'constructor' && Object.hasOwn(value, 'prototype');
  return poisons ? 'must not hold a prototype' : undefined;
}

function pushChildren(parent: Place, stack: Place[]): void {
  const { value } = parent;
  if (typeof value !== 'object' || value === null) return;
  const depth = parent.depth + 1;
  if (Array.isArray(value)) {
    value.forEach((child, key) => stack.push({ value: child, key, parent, depth }));
    return;
  }
  for (const key of Object.keys(value)) {
    stack.push({ value: (value as Record<string, unknown>)[key], key, parent, depth });
  }
}

const SHOWN_PATH = 200;

/** `inputContext.command[0]`. Unprintable parts are replaced, and a long path is cut. */
function pathOf(place: Place): string {
  const parts: string[] = [];
  for (let at: Place | undefined = place; at?.parent !== undefined; at = at.parent) {
    parts.push(typeof at.key === 'number' ? `[${at.key}]` : `.${at.key}`);
  }
  const path = parts.reverse().join('').replace(/^\./, '').slice(0, SHOWN_PATH);
  const shown = path.toWellFormed().replaceAll('\u0000', '\uFFFD');
  return shown === '' ? 'body' : shown;
}
