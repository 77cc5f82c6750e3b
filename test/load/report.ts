import Table from 'cli-table3';
import type { Figure, Goal, Measured } from './harness/figure.js';

export function table(figures: readonly Measured[]): string {
  const head = ['figure', 'unit', 'median', 'min', 'max', 'floor', 'ratio', 'wanted', ''];
  const rows = figures.map((each) => [
    each.name,
    each.unit,
    shown(each.median),
    shown(each.min),
    shown(each.max),
    each.floor === null ? '' : shown(each.floor),
    each.ratio === null ? '' : each.ratio.toFixed(2),
    each.goal ? wanted(each.goal) : '',
    each.goal ? verdict(each, each.goal) : '',
  ]);
  const colAligns = ['left', 'left', ...Array.from({ length: 7 }, () => 'right' as const)] as (
    | 'left'
    | 'right'
  )[];
  const made = new Table({ head, colAligns, style: { head: [], border: [] } });
  made.push(...rows);
  return made.toString();
}

/** The format that `--json` promises. */
export function plain({ name, unit, median, min, max, floor, ratio }: Measured): Figure {
  return { name, unit, median, min, max, floor, ratio };
}

function wanted(goal: Goal): string {
  if ('atMost' in goal) return `<= ${goal.atMost}`;
  if ('atLeast' in goal) return `>= ${goal.atLeast.toLocaleString('en')}`;
  return 'ratioAtMost' in goal ? `ratio <= ${goal.ratioAtMost}` : `ratio >= ${goal.ratioAtLeast}`;
}

function verdict({ median, ratio }: Measured, goal: Goal): string {
  const [share, holds] = shareOf(median, ratio ?? 0, goal);
  return holds ? 'met' : `short: ${Math.round(Math.abs(1 - share) * 100)} %`;
}

/** The ratio to the goal, and whether it is sufficient. */
function shareOf(median: number, ratio: number, goal: Goal): [share: number, holds: boolean] {
  if ('atMost' in goal) return [median / goal.atMost, median <= goal.atMost];
  if ('atLeast' in goal) return [median / goal.atLeast, median >= goal.atLeast];
  if ('ratioAtMost' in goal) return [ratio / goal.ratioAtMost, ratio <= goal.ratioAtMost];
  return [ratio / goal.ratioAtLeast, ratio >= goal.ratioAtLeast];
}

function shown(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : 2 });
}
