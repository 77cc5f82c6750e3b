import { setTimeout as delay } from 'node:timers/promises';
import type { CleanupScope } from '#lib/local-servers';
import { checkInvariants, type Outcome } from '#lib/invariants';
import { Deaths } from './faults/deaths.js';
import { storm } from './faults/storm.js';
import { Findings, Tally } from './findings.js';
import { compareBudgets } from './judge/budgets.js';
import { comparePromises } from './judge/promises.js';
import { settle } from './judge/settle.js';
import { Watch } from './judge/watch.js';
import { type Books, Client } from './load/client.js';
import { Load } from './load/load.js';
import type { Options } from './options.js';
import type { Report } from './report.js';
import { planFaults } from './schedule.js';
import { setStage, type Stage } from './stage/stage.js';

/** Performs a chaos run, from an empty folder to its report. */
export async function runChaos(
  scope: CleanupScope,
  { seed, durationMs }: Options,
  tell: (text: string) => void,
): Promise<Report> {
  const { signal } = scope;
  const stage = await setStage(scope, tell);
  const findings = new Findings();
  const books: Books = { operations: new Tally(), answers: new Tally(), findings };
  const watch = new Watch(stage.postgres, findings);
  const { addresses, people } = stage;
  const load = new Load({
    seed,
    addresses,
    key: people.key,
    budgets: people.budgets,
    books,
    backlog: () => watch.backlog,
  });
  scope.add(async () => {
    load.abort();
    await watch.stop();
  });
  const deaths = new Deaths(stage.postgres);
  const faults = new Tally();
  const scene = { stage, deaths };
  await storm(planFaults(seed, durationMs), { scene, durationMs, signal, faults, findings, tell });
  tell('the faults are over; waiting for every task to end');
  await load.stop();
  tell('every client has its answer');
  const client = new Client(addresses, people.key, books, { first: 0 });
  const settledMs = await settle(stage, client, { findings, signal });
  tell('every task has ended; judging');
  await watch.stop();
  const tasks = await comparePromises(stage.postgres, load.journal, findings);
  const usageReports = await compareBudgets(stage.postgres, people.budgets, findings);
  const invariants = await invariantsOf(stage, findings);
  return {
    ok: findings.total === 0,
    seed,
    minutes: durationMs / 60_000,
    operations: books.operations.toJSON(),
    answers: books.answers.toJSON(),
    tasks,
    usageReports,
    faults: faults.toJSON(),
    recoveryMs: await deaths.recoveries(),
    settledMs,
    samples: watch.samples,
    crashes: crashesOf(stage),
    invariants: invariants.map(({ name, holds }) => ({ name, holds })),
    violations: findings.violations,
    violationCount: findings.total,
  };
}

async function invariantsOf(stage: Stage, findings: Findings): Promise<Outcome[]> {
  // A statement of the sweeps may still be running. Each check is a snapshot of its own.
  await delay(100);
  const outcomes = await checkInvariants(stage.serviceUrl);
  for (const { name, violations } of outcomes) {
    for (const { subject, problem } of violations) findings.add(name, subject, problem);
  }
  return outcomes;
}

function crashesOf({ servers, workers, gateway }: Stage): Record<string, string[]> {
  const programs = [...servers, ...workers, gateway].filter(({ crashes }) => crashes.length > 0);
  return Object.fromEntries(programs.map(({ name, crashes }) => [name, crashes]));
}
