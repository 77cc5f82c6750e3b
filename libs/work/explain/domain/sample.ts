/**
 * Observed values of something, in seconds, to predict the next one.
 *
 * If n values come from the same source in any order, the next one falls between any two
 * neighbours, or outside, with the same probability 1 / (n + 1). So the values divide the
 * probability into n + 1 equal parts. Within a part it is assumed uniform, and beyond the ends to
 * fall exponentially with the standard deviation. Few values therefore give a wide range, and many
 * the observed range.
 */
export interface Sample {
  /** Ascending, never empty. */
  readonly values: readonly number[];
  readonly deviation: number;
}

/** Null without values. @param values seconds, in any order */
export function sampleOf(values: readonly number[]): Sample | null {
  if (values.length === 0) return null;
  const sorted = values.map((value) => Math.max(0, value)).sort((one, other) => one - other);
  return { values: sorted, deviation: deviationOf(sorted) };
}

/** One value has no known deviation, so it is assumed as large as the value. */
function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length === 1) return mean;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

/**
 * The value below which the next one falls with the probability `share`.
 *
 * @param share in (0, 1)
 * @param floor a known lower bound, in seconds
 */
export function draw({ values, deviation }: Sample, share: number, floor = 0): number {
  const place = share * (values.length + 1);
  const below = Math.floor(place);
  const within = place - below;
  // One number after the other without destructuring, because a long queue draws 100,000 times.
  const from = values[below - 1];
  const to = values[below];
  if (from === undefined) return Math.max(floor, (to ?? 0) + deviation * Math.log(within));
  return to === undefined ? from - deviation * Math.log(1 - within) : from + (to - from) * within;
}

/** The rest of the sample for a task that has run for this long. Null if none took longer. */
export function lasting(sample: Sample, elapsedSeconds: number): Sample | null {
  const longer = sample.values.filter((value) => value > elapsedSeconds);
  return longer.length === 0 ? null : { values: longer, deviation: sample.deviation };
}
