import type { SqlRunner } from '#lib/database';
import { accountedFor } from './accounted-for.sql.js';
import { artifactsAddUp } from './artifacts-add-up.sql.js';
import { boundedAttempts } from './bounded-attempts.sql.js';
import { boundedConcurrency } from './bounded-concurrency.sql.js';
import { budgetsAddUp } from './budgets-add-up.sql.js';
import { dependenciesFirst } from './dependencies-first.sql.js';
import { holdsMarked } from './holds-marked.sql.js';
import { noOrphans } from './no-orphans.sql.js';
import { oneEventEach } from './one-event-each.sql.js';
import { oneLiveRun } from './one-live-run.sql.js';
import { changesMatchTasks } from './changes-match-tasks.sql.js';
import { oneOpenQuestion } from './one-open-question.sql.js';
import { unbrokenLog } from './unbroken-log.sql.js';
import { usageRollups } from './usage-rollups.sql.js';
import type { Invariant, Outcome } from './invariant.js';
import { withRunner } from './runner.js';

/** The invariants in the order of the report. */
const INVARIANTS: readonly Invariant[] = [
  accountedFor,
  unbrokenLog,
  oneLiveRun,
  boundedAttempts,
  boundedConcurrency,
  budgetsAddUp,
  oneEventEach,
  dependenciesFirst,
  noOrphans,
  oneOpenQuestion,
  changesMatchTasks,
  usageRollups,
  artifactsAddUp,
  holdsMarked,
];

const SHOWN_VIOLATIONS = 5;

/**
 * Checks every invariant on the whole database, for all workspaces. Each is one statement, and so
 * one snapshot, which can run while everything else runs.
 *
 * @param database a URL of the owner or of drover_service, or a runner of statements as them
 */
export function checkInvariants(database: string | SqlRunner): Promise<Outcome[]> {
  return withRunner(database, checkAll);
}

async function checkAll(runner: SqlRunner): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { name, title, sql } of INVARIANTS) {
    const violations = await runner.rows(sql, [SHOWN_VIOLATIONS]);
    outcomes.push({ name, title, holds: violations.length === 0, violations });
  }
  return outcomes;
}
