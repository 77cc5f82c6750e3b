import { expect } from '@jest/globals';
import { checkInvariants } from '#lib/invariants';
import type { TestDatabase } from '../../support/database.js';
import type { Load } from './load.js';

/** Checks the invariants on the whole database. */
export async function expectInvariants(db: TestDatabase): Promise<void> {
  const outcomes = await checkInvariants(db.ownerUrl);
  expect(outcomes.filter((outcome) => !outcome.holds)).toEqual([]);
}

interface Tally {
  id: string;
  title: string;
  status: string;
  runs: number;
  completions: number;
}

export interface Expected {
  /** Checks that the first run completed each task, because nothing caused a second run. */
  firstRun?: boolean;
}

/** Checks that each creation with the answer 201 exists once and was completed once. */
export async function expectNothingLost(
  db: TestDatabase,
  load: Load,
  { firstRun = false }: Expected = {},
): Promise<void> {
  const { rows } = await db.owner.query<Tally>(
    `SELECT t.id, t.title, t.status, count(r.id)::int AS runs,
       count(r.id) FILTER (WHERE r.state = 'COMPLETED')::int AS completions
     FROM agent_tasks t LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.task_id = t.id
     WHERE t.task_type = 'fault' GROUP BY t.workspace_id, t.id`,
  );
  const wrong = rows.filter(
    ({ status, runs, completions }) =>
      status !== 'COMPLETED' || completions !== 1 || (firstRun && runs !== 1),
  );
  expect(wrong).toEqual([]);
  expect(rows.map(({ id }) => id).sort()).toEqual([...load.created].sort());
  expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
}
