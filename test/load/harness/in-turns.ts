interface Parts {
  warmUp?: () => Promise<unknown>;
  value: () => Promise<number>;
  floor: () => Promise<number>;
}

/**
 * Measures a value and its floor in turns, so that whatever else the machine does burdens both.
 * Who goes first changes, too.
 */
export async function inTurns(
  repeats: number,
  { warmUp, value, floor }: Parts,
): Promise<{ values: number[]; floors: number[] }> {
  const [values, floors]: [number[], number[]] = [[], []];
  await warmUp?.();
  for (let repeat = 0; repeat < repeats; repeat++) {
    if (repeat % 2 === 0) floors.push(await floor());
    values.push(await value());
    if (repeat % 2 === 1) floors.push(await floor());
  }
  return { values, floors };
}

/** @returns how many of what `work` counts happen a second */
export async function perSecond(work: () => Promise<number>): Promise<number> {
  const start = performance.now();
  const count = await work();
  return count / ((performance.now() - start) / 1000);
}
