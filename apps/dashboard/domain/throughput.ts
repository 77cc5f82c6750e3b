import { quantile } from './format.js';

interface Ended {
  readyAt: string | null;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
}

const STEP_MS = 120_000;
const STEPS = 30;

/** What an hour of completed tasks shows: counts of two minutes each, seconds of waiting and of running. */
export function figuresOf({ now, tasks }: { now: number; tasks: Ended[] }) {
  const last = Math.floor(now / STEP_MS);
  const times = Array.from(
    { length: STEPS },
    (_, index) => ((last - STEPS + 1 + index) * STEP_MS) / 1000,
  );
  const counts = times.map(() => 0);
  for (const { completedAt } of tasks) {
    if (completedAt === null) continue;
    const step = Math.floor(Date.parse(completedAt) / STEP_MS) - (last - STEPS + 1);
    // Clocks of browsers and servers differ: what lies ahead is counted as just completed.
    const index = Math.min(STEPS - 1, step);
    if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
  }
  return {
    times,
    counts,
    wait: spreadOf(
      tasks,
      ({ readyAt, createdAt }) => readyAt ?? createdAt,
      ({ startedAt }) => startedAt,
    ),
    run: spreadOf(
      tasks,
      ({ startedAt }) => startedAt,
      ({ completedAt }) => completedAt,
    ),
  };
}

function spreadOf(
  tasks: Ended[],
  from: (task: Ended) => string | null,
  to: (task: Ended) => string | null,
): { p50: number; p95: number } {
  const lengths = tasks
    .map((task) => [from(task), to(task)])
    .filter((pair): pair is [string, string] => pair[0] !== null && pair[1] !== null)
    .map(([begin, end]) => Math.max(0, Date.parse(end) - Date.parse(begin)) / 1000)
    .sort((a, b) => a - b);
  return { p50: quantile(lengths, 0.5) ?? 0, p95: quantile(lengths, 0.95) ?? 0 };
}
