import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentGround } from '../e2e/agents/ground.js';
import { paste, type Pasted, readPage } from './page.js';

/** Runs the lines of the page as they stand there, with Codex and a stand-in for its model. */

const WEEKS = `cat >date.js <<'END'
const WEEK = /^(\\d{4})-W(\\d{2})$/;

export function parse(text) {
  const week = WEEK.exec(text);
  if (week === null) return new Date(text);
  const fourth = new Date(Date.UTC(Number(week[1]), 0, 4));
  const monday = 1 - (fourth.getUTCDay() || 7) + 7 * (Number(week[2]) - 1);
  return new Date(fourth.getTime() + monday * 86_400_000);
}
END
cat >>date.test.js <<'END'
test('a week is parsed', () => equal(parse('2026-W48').getTime(), Date.UTC(2026, 10, 23)));
END
npm test`;

let ground: AgentGround;
let pasted: Pasted;

beforeAll(async () => {
  ground = await AgentGround.open('codex');
  await ground.serve([{ calls: [{ run: WEEKS }] }, { text: 'ISO weeks are parsed.' }]);
  const { folder, access } = ground.fleet;
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const program = join(import.meta.dirname, '../../scripts/drover.mjs');
  writeFileSync(join(bin, 'drover'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(bin, 'drover'), 0o755);
  pasted = await paste(readPage('code-work.md'), folder, {
    ...access,
    PATH: `${bin}:${process.env['PATH']}`,
    DROVER_CONFIG: join(folder, 'config.json'),
    NODE_OPTIONS: '',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  });
}, 240_000);

afterAll(async () => {
  await ground.endTest();
  await ground.close();
});

it("the page's lines lead from an empty folder to a merged change", () => {
  const { code, output, err } = pasted;
  expect({ code, err }).toEqual({ code: 0, err });
  for (const part of [
    'Repository shop added',
    'ISO weeks are parsed.',
    // Of the acceptance, in a clean checkout.
    'pass 2',
    "+test('a week is parsed'",
    /Author: codex[^]*Make the date parser accept ISO weeks[^]*Drover-Task:/,
    /\tMake the date parser accept ISO weeks\tcodex\t\S+\t[1-9]\d*\t/,
  ]) {
    expect(output).toMatch(part);
  }
});
