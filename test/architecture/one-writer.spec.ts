import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

function sources(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory())
      return ['generated', 'testing'].includes(entry.name) ? [] : sources(path);
    const counts = entry.name.endsWith('.ts') && !entry.name.endsWith('spec.ts');
    return counts ? [path] : [];
  });
}

const files = [...sources(join(ROOT, 'libs')), ...sources(join(ROOT, 'apps'))].map((path) => ({
  path: relative(ROOT, path),
  text: readFileSync(path, 'utf8'),
}));

/** Returns the files in which an UPDATE of the table sets the column, or an INSERT names it. */
function writers(table: string, column: string): string[] {
  const update = new RegExp(
    `UPDATE ${table}\\b[^;\`]*?\\bSET\\b(?:(?!\\bFROM\\b|\\bWHERE\\b)[^;\`])*?\\b${column}\\s*=`,
    's',
  );
  const insert = new RegExp(`INSERT INTO ${table}\\b[^)]*\\b${column}\\b[^)]*\\)`, 's');
  return files.filter(({ text }) => update.test(text) || insert.test(text)).map(({ path }) => path);
}

describe('the writer of a state', () => {
  it.each([
    ['agent_tasks', 'status', 'libs/work/transitions/store/task-transition.sql.ts'],
    ['task_runs', 'state', 'libs/work/transitions/store/run-transition.sql.ts'],
    ['agents', 'lifecycle', 'libs/work/transitions/store/agent-transition.sql.ts'],
    ['agents', 'live_runs', 'libs/work/transitions/store/run-transition.sql.ts'],
    ['changes', 'state', 'libs/code/changes/store/change-transition.sql.ts'],
  ])('the column %s.%s has one writer', (table, column, writer) => {
    expect(writers(table, column)).toEqual([writer]);
  });

  it.each([
    "`UPDATE agent_tasks t SET priority = 1, status = 'FAILED' WHERE true`",
    '`UPDATE agent_tasks SET status=$1`',
  ])('the search finds a second writer: %s', (text) => {
    files.push({ path: 'intruder.ts', text });
    expect(writers('agent_tasks', 'status')).toContain('intruder.ts');
    files.pop();
  });

  // The generated client would bypass them.
  it('no writer of a state is the generated client', () => {
    const writes = /\b(?:agentTask|taskRun|agent)\.(?:create|update|upsert|delete)\w*\(/;
    expect(files.filter(({ text }) => writes.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

/**
 * Programs of other machines, and the folder of a local installation. The library git passes a few
 * variables on to git.
 */
const OF_HOSTS =
  /^(apps\/worker\/|libs\/dev\/local-servers\/|libs\/code\/git\/|apps\/cli\/|libs\/platform\/kernel\/system\/project\.ts$)/;

describe('the reader of the environment', () => {
  it('only libs/platform/config and program.ts read the environment of server and gateway', () => {
    const readers = files
      .filter(({ path }) => !OF_HOSTS.test(path))
      .filter(({ text }) => text.includes('process.env'))
      .map(({ path }) => path);
    expect(readers).toEqual(['apps/gateway/program.ts', 'apps/server/program.ts']);
  });
});
