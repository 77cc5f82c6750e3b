import { expect } from '@jest/globals';
import fc from 'fast-check';
import { at, Deed, hasRuns, index, often } from './deed.js';
import {
  complete,
  fail,
  type Progress,
  progress,
  release,
  renew,
  start,
  type Verdict,
} from './rules.js';
import { isLive, type Model, type Run } from './state.js';
import { verdictOf, type World } from './world.js';

export const RENEWALS_AT_MOST = 2;

type Report = [name: string, run: Run, body: object, rule: (model: Model) => Verdict];

/** Reports about any run, live or not: most often about a late one. */
const REPORTS: Record<string, (run: Run, n: number) => Report> = {
  start: (run) => ['start', run, {}, (model) => start(model, run)],
  checkpoint: (run, n) => [
    ...(['checkpoint', run, { checkpointData: { n } }] as const),
    (model) => progress(model, run, { checkpoint: n }),
  ],
  progress: progressOf,
  complete: (run) => ['complete', run, {}, (model) => complete(model, run)],
  fail: (run) => [
    ...(['fail', run, { error: { message: 'on purpose', class: 'exit_code' } }] as const),
    (model) => fail(model, run, 'exit_code'),
  ],
  fail_for_good: (run) => [
    ...(['fail', run, { error: { message: 'never', class: 'setup' } }] as const),
    (model) => fail(model, run, 'setup'),
  ],
  fail_as_said: (run, n) => [
    ...(['fail', run, { error: { message: 'so', class: 'oom', retryable: n % 2 === 0 } }] as const),
    (model) => fail(model, run, 'oom', n % 2 === 0),
  ],
  release: (run) => ['release', run, {}, (model) => release(model, run)],
  renew: (run) => ['renew', run, { leaseSeconds: 3_600 }, () => renew(run, RENEWALS_AT_MOST)],
};

export function progressOf(run: Run, n: number): Report {
  return ['progress', run, progressBody(n), (model) => progress(model, run, progressSaid(n))];
}

/** A progress report can leave out each part, and even all parts. */
function progressSaid(n: number): Progress {
  return {
    ...(n % 4 > 0 && { progressPercent: n * 2 }),
    ...(n % 3 === 0 && { checkpoint: n }),
    ...(n % 5 === 0 && { estimate: 'ahead' }),
  };
}

function progressBody(n: number): object {
  const { progressPercent, checkpoint, estimate } = progressSaid(n);
  return {
    ...(progressPercent !== undefined && { progressPercent }),
    ...(checkpoint !== undefined && { checkpointData: { n: checkpoint } }),
    ...(estimate && { estimatedCompletionAt: '2100-01-01T00:00:00Z' }),
  };
}

export const reporting = fc
  .record({
    report: fc.constantFrom(...often(6, 'start'), ...Object.keys(REPORTS)),
    run: index,
    // Otherwise any run, which is most often a finished one.
    live: fc.nat({ max: 3 }).map((n) => n > 0),
  })
  .map(
    (given) =>
      new Deed(
        `${given.report}(${given.live ? 'live run' : 'run'} ${given.run})`,
        hasRuns,
        (model, world) => {
          const live = model.runs.filter(isLive);
          const run = at(given.live && live.length > 0 ? live : model.runs, given.run);
          const make = REPORTS[given.report] as (run: Run, n: number) => Report;
          return reportAs(model, world, make(run, given.run));
        },
      ),
  );

const METHODS: Record<string, 'put' | 'patch'> = { checkpoint: 'put', progress: 'patch' };

export async function reportAs(model: Model, world: World, report: Report): Promise<void> {
  const [name, run, body, rule] = report;
  const api = world.as(run.agent);
  const path = `/runs/${run.id}/${name}`;
  const method = METHODS[name] ?? 'post';
  const answer = await api[method](path, body);
  // The server refuses every report of a terminated agent.
  if (run.agent.life === 'TERMINATED' && answer.status === 401) return;
  expect(verdictOf(answer)).toBe(rule(model));
}
