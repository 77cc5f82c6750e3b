// Postgres' text cannot hold NUL, and a lone surrogate has no UTF-8 form.
const NUL = '\u0000';

/** Whether Postgres can store the text: no NUL, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes(NUL) && text.isWellFormed();
}

export interface JsonLimits {
  /** How many levels of arrays and objects may be nested. */
  maxDepth: number;
}

/**
 * Why a JSON value cannot be stored as jsonb, or null when it can.
 * Also refuses `__proto__` as a key: somebody's merge would act on it one day.
 */
export function whyUnstorable(
  value: unknown,
  limits: JsonLimits = { maxDepth: 64 },
): string | null {
  const stack: { value: unknown; depth: number }[] = [{ value, depth: 1 }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { value: current, depth } = item;
    if (typeof current === 'string' && !isStorableText(current)) {
      return 'holds a NUL character or a lone surrogate';
    }
    if (typeof current === 'number' && !Number.isFinite(current))
      return 'holds a number out of range';
    if (current === null || typeof current !== 'object') continue;
    if (depth > limits.maxDepth) return `is nested more than ${limits.maxDepth} levels deep`;
    for (const [key, child] of Object.entries(current)) {
      if (key === '__proto__') return 'has a key named __proto__';
      if (!isStorableText(key)) return 'has a key with a NUL character or a lone surrogate';
      stack.push({ value: child, depth: depth + 1 });
    }
  }
  return null;
}
