/** Half of the cases are at most `p50`, nine of ten at most `p90`. */
export interface Spread {
  p50: number;
  p90: number;
}

/** For a sample with at least one value. Interpolates between two values. */
export function spreadOf(sample: ArrayLike<number>): Spread {
  const sorted = Float64Array.from(sample).sort();
  return { p50: quantile(sorted, 0.5), p90: quantile(sorted, 0.9) };
}

function quantile(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return below + (above - below) * (place % 1);
}
