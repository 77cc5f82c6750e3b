/** One line of the result, as `--json` writes it. */
export interface Figure {
  name: string;
  unit: string;
  median: number;
  min: number;
  max: number;
  /** The median of the comparison, measured in the same run; null if there is none. */
  floor: number | null;
  /** median / floor. */
  ratio: number | null;
}

/** The expected value of a figure. It is printed beside it and never fails the run. */
export type Goal =
  | { atLeast: number }
  | { atMost: number }
  | { ratioAtLeast: number }
  | { ratioAtMost: number };

export interface Measured extends Figure {
  goal?: Goal;
}

interface About {
  name: string;
  unit: string;
  goal?: Goal;
}

/**
 * @param floors the values of the comparison, measured in turns with the values
 */
export function figure(
  about: About,
  values: readonly number[],
  floors?: readonly number[],
): Measured {
  const floor = floors ? median(floors) : null;
  const middle = median(values);
  return {
    ...about,
    median: rounded(middle),
    min: rounded(Math.min(...values)),
    max: rounded(Math.max(...values)),
    floor: floor === null ? null : rounded(floor),
    ratio: floor === null ? null : Math.round((middle / floor) * 1000) / 1000,
  };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * @param share 0 to 1
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error('There are no values');
  return below + (above - below) * (position - Math.floor(position));
}

export interface Latencies {
  p50: number;
  p99: number;
}

export function latenciesOf(values: readonly number[]): Latencies {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

/** Returns two figures, `name-p50` and `name-p99`, of samples of several repeats. */
export function latencyFigures(
  name: string,
  unit: string,
  goals: Partial<Record<keyof Latencies, Goal>>,
  values: readonly Latencies[],
  floors?: readonly Latencies[],
): Measured[] {
  return (['p50', 'p99'] as const).map((share) => {
    const about = { name: `${name}-${share}`, unit, goal: goals[share] };
    const of = (each: Latencies): number => each[share];
    return figure(about, values.map(of), floors?.map(of));
  });
}

function rounded(value: number): number {
  const digits = Math.abs(value) >= 100 ? 0 : 2;
  return Number(value.toFixed(digits));
}
