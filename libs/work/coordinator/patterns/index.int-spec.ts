import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { ReconcilerClass } from '../cycle/reconciler.js';
import { readDues } from '../cycle/next-due.sql.js';
import { COUNTER_NAMES, RECONCILERS, STEP_NAMES } from './index.js';

const patterns: readonly ReconcilerClass[] = RECONCILERS;
const here = import.meta.dirname;
const readme = readFileSync(join(here, '../README.md'), 'utf8');

/** The pattern names that the files of this folder stand for. */
const files = readdirSync(here)
  .filter((file) => /^[a-z-]+\.ts$/.test(file) && file !== 'index.ts')
  .map((file) => basename(file, '.ts').replaceAll('-', '_'));

/** The rows of the README's table of steps, with trimmed cells. */
const table = readme.split('| step (`patterns/`)')[1]?.split('\n\n')[0] ?? '';
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

describe('the list of recovery patterns', () => {
  it('the list of patterns has each file of the folder under its name', () => {
    expect([...STEP_NAMES].sort()).toEqual(files.sort());
  });

  it('the list of patterns has each name and each counter once', () => {
    expect(new Set(STEP_NAMES).size).toBe(patterns.length);
    expect(new Set(COUNTER_NAMES).size).toBe(patterns.length);
  });

  it('the list of patterns is the table of the README, in the order of the cycle', () => {
    const steps = patterns.map(({ facts }) => {
      return [`\`${facts.name}\`${facts.slow === true ? ' †' : ''}`, facts.moves];
    });
    expect(rows).toEqual(steps);
  });
});

describe('the statement that asks for the next due time', () => {
  it('the statement for due times has a column for each pattern with a due time, in order', () => {
    const columns = [...readDues.text.matchAll(/ AS "([a-z_]+)"/g)].map(([, name]) => name);
    const due = patterns.filter(({ facts }) => facts.due).map(({ facts }) => facts.name);
    expect(columns).toEqual(due);
  });

  it('the statement for due times has a parameter for each setting that a pattern needs', () => {
    const numbers = [...readDues.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
    const params = patterns.flatMap(({ facts }) => facts.due?.params ?? []);
    expect(new Set(numbers)).toEqual(new Set(params.map((_, at) => at + 1)));
  });
});
