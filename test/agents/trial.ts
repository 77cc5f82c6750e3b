import type { Ground, TriedKind } from './ground.js';

/** One claim about a kind, tried with its real program. */
export interface Trial {
  name: string;
  /**
   * @returns a note for the table
   * @throws if the claim is false. The message says why.
   */
  run(ground: Ground, kind: TriedKind): Promise<string | undefined>;
}

export interface Verdict {
  kind: string;
  trial: string;
  ok: boolean;
  note: string;
  seconds: number;
}

/** @throws with both values unless they are equal */
export function expectEqual<T extends string | number | boolean | null | undefined>(
  what: string,
  actual: T,
  expected: T,
): void {
  if (actual === expected) return;
  throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

export function expectMatch(what: string, actual: string | null | undefined, expected: RegExp) {
  if (expected.test(actual ?? '')) return;
  throw new Error(`${what}: ${JSON.stringify(actual)} does not match ${String(expected)}`);
}
