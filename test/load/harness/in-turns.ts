/**
 * Measures several variants in turns, so that other load on the machine affects all of them. The
 * first one changes, too.
 */
export async function inTurns<Name extends string, Value>(
  repeats: number,
  ways: Record<Name, () => Promise<Value>>,
): Promise<Record<Name, Value[]>> {
  const names = Object.keys(ways) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    Value[]
  >;
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const name of names) values[name].push(await ways[name]());
    names.reverse();
  }
  return values;
}

/**
 * @returns the number of units of `work` per second
 */
export async function perSecond(work: () => Promise<number>): Promise<number> {
  const start = performance.now();
  const count = await work();
  return count / ((performance.now() - start) / 1000);
}
