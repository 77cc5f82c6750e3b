/** Half of the cases are at most `p50`, nine of ten at most `p90`. */
export interface Spread {
  p50: number;
  p90: number;
}

/** The quantile of a sample that has at least one value, interpolated. @param share in [0, 1] */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = [...sample].sort((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return below + (above - below) * (place % 1);
}

export function spreadOf(sample: readonly number[]): Spread {
  return { p50: quantile(sample, 0.5), p90: quantile(sample, 0.9) };
}

export function meanOf(sample: readonly number[]): number {
  return sample.reduce((sum, value) => sum + value, 0) / sample.length;
}

/** Of one value nothing is known about the deviation: it is taken to be as large as the value. */
export function deviationOf(sample: readonly number[]): number {
  const mean = meanOf(sample);
  if (sample.length < 2) return mean;
  const squares = sample.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (sample.length - 1));
}
