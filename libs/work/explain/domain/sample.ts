/**
 * What was seen of something, in seconds, for guesses at the next one.
 *
 * Of n values that come from the same source in any order, the next one falls between any two
 * neighbours, or outside, with the same chance: 1 in n + 1. So the values cut the chances into n + 1 equal
 * parts; within a part they are taken to be even, and beyond the ends to fall off exponentially, by the
 * standard deviation. Few values therefore give a wide range, and many the range of what was seen.
 */
export interface Sample {
  /** Ascending, never empty. */
  readonly values: readonly number[];
  readonly deviation: number;
}

/** null when nothing was seen. @param values seconds, in any order */
export function sampleOf(values: readonly number[]): Sample | null {
  if (values.length === 0) return null;
  const sorted = values.map((value) => Math.max(0, value)).sort((one, other) => one - other);
  return { values: sorted, deviation: deviationOf(sorted) };
}

/** Of one value nothing is known about the deviation: it is taken to be as large as the value. */
function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length === 1) return mean;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

/**
 * The value below which the next one falls with the chance `share`.
 *
 * @param share in (0, 1)
 * @param floor what it is known to exceed, in seconds
 */
export function draw({ values, deviation }: Sample, share: number, floor = 0): number {
  const place = share * (values.length + 1);
  const below = Math.floor(place);
  const within = place - below;
  // One number after the other and no destructuring: a long queue draws 100,000 times.
  const from = values[below - 1];
  const to = values[below];
  if (from === undefined) return Math.max(floor, (to ?? 0) + deviation * Math.log(within));
  return to === undefined ? from - deviation * Math.log(1 - within) : from + (to - from) * within;
}

/** What is left of the sample for one that has taken so long by now; null when none took longer. */
export function lasting(sample: Sample, elapsedSeconds: number): Sample | null {
  const longer = sample.values.filter((value) => value > elapsedSeconds);
  return longer.length === 0 ? null : { values: longer, deviation: sample.deviation };
}
