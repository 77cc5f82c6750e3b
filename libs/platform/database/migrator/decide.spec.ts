import { describe, expect, it } from '@jest/globals';
import { type AppliedMigration, planMigration, refusal } from './decide.js';
import { migrationFile } from './files.js';

const FIRST = migrationFile('1_first', 'SELECT 1;\n');
const SECOND = migrationFile('2_second', 'SELECT 2;\n');
const FILES = [FIRST, SECOND];

function row(name: string, checksum: string, values: Partial<AppliedMigration> = {}) {
  const base = { migration_name: name, checksum, finished_at: new Date(0), rolled_back_at: null };
  return { ...base, ...values };
}

describe('planMigration', () => {
  const done = row(FIRST.name, FIRST.checksum);

  it.each([
    { why: 'nothing is applied', rows: [], pending: ['1_first', '2_second'] },
    { why: 'one is applied', rows: [done], pending: ['2_second'] },
    { why: 'all are', rows: [done, row(SECOND.name, SECOND.checksum)], pending: [] },
    {
      why: 'one was rolled back, whatever it was',
      rows: [done, row(SECOND.name, 'other', { finished_at: null, rolled_back_at: new Date(0) })],
      pending: ['2_second'],
    },
    {
      why: 'the file came with other line ends',
      rows: [row(FIRST.name, migrationFile('', 'SELECT 1;\r\n').checksum)],
      pending: ['2_second'],
    },
  ])('missing migrations are applied when $why', ({ rows, pending }) => {
    const plan = planMigration(FILES, rows);
    expect(plan.kind === 'apply' && plan.pending.map((file) => file.name)).toEqual(pending);
    expect(refusal(plan)).toBeNull();
  });

  it.each([
    {
      rows: [row(FIRST.name, SECOND.checksum)],
      plan: { kind: 'changed', name: '1_first' },
      says: /^The migration 1_first was changed after .*: restore its file/,
    },
    {
      rows: [done, row(SECOND.name, SECOND.checksum, { finished_at: null })],
      plan: { kind: 'failed', name: '2_second' },
      says: /^The migration 2_second failed before .*: repair the database/,
    },
    {
      rows: [done, row('3_third', 'any'), row('4_fourth', 'any')],
      plan: { kind: 'newer', names: ['3_third', '4_fourth'] },
      says: /newer version of Drover \(it has 3_third, 4_fourth\): start that version/,
    },
  ])('a plan of kind $plan.kind is refused in one sentence', ({ rows, plan, says }) => {
    const made = planMigration(FILES, rows);
    expect(made).toEqual(plan);
    expect(refusal(made)).toMatch(says);
    expect(refusal(made)).not.toMatch(/\n|\. [A-Z]/);
  });
});
