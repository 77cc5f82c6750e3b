import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentGround } from '../e2e/agents/ground.js';
import { AGENTS } from '../support/agent-programs.js';
import type { Script, Turn } from '../support/model-server/index.js';
import { paste, type Pasted, readPage } from './page.js';

/** Runs the lines of pages as they stand there, with Codex and a stand-in for its model. */

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

const HAIKU = 'The queue grows longer\n';
const LOCKS = 'Two wait for one lock\n';

/** The answers to the tasks of the page about agents, by their titles. */
const poet: Script = ({ prompt, later }): Turn[] => {
  if (prompt.includes('report'))
    return [write('report.md', 'In short.\n'), { text: 'It is short.' }];
  const haiku = [write('haiku.txt', HAIKU), { text: 'Seventeen syllables.' }];
  return later.includes('locks')
    ? [...haiku, write('locks.txt', LOCKS), { text: 'Locked.' }]
    : haiku;
};

const write = (name: string, content: string): Turn => ({ calls: [{ write: name, content }] });

let ground: AgentGround;

beforeAll(async () => {
  ground = await AgentGround.open('codex');
  const { folder } = ground.fleet;
  const [bin, home] = [join(folder, 'bin'), join(folder, 'home')];
  for (const each of [bin, home]) mkdirSync(each);
  symlinkSync(AGENTS, join(home, 'agents'));
  const program = join(import.meta.dirname, '../../scripts/drover.mjs');
  writeFileSync(join(bin, 'drover'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(bin, 'drover'), 0o755);
}, 240_000);

afterEach(() => ground.endTest());
afterAll(() => ground.close());

/** Runs the lines in a home that has the agents of the tests. */
async function pasteWith(script: Script, name: string): Promise<Pasted> {
  await ground.serve(script);
  const { folder, access } = ground.fleet;
  return paste(readPage(name), folder, {
    ...access,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    DROVER_HOME: join(folder, 'home'),
    DROVER_CONFIG: join(folder, 'config.json'),
    NODE_OPTIONS: '',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  });
}

it.each<[page: string, script: Script, parts: (string | RegExp)[]]>([
  [
    'agents.md',
    poet,
    [
      'codex installed in',
      `Seventeen syllables.\n`,
      HAIKU,
      // The transcript.
      /41 output tokens[^]*DEBUG[^]*Seventeen syllables/,
      LOCKS,
      'It is short.',
      /^Write a haiku about queues/m,
    ],
  ],
  [
    'code-work.md',
    [{ calls: [{ run: WEEKS }] }, { text: 'ISO weeks are parsed.' }],
    [
      'Repository shop added',
      'ISO weeks are parsed.',
      // The acceptance ran in a clean checkout.
      'pass 2',
      "+test('a week is parsed'",
      /Author: codex[^]*Make the date parser accept ISO weeks[^]*Drover-Task:/,
      /\tMake the date parser accept ISO weeks\tcodex\t\S+\t[1-9]\d*\t/,
    ],
  ],
])(
  'the lines of %s lead to the described results',
  async (page, script, parts) => {
    const { code, output, err } = await pasteWith(script, page);
    expect({ code, err }).toEqual({ code: 0, err });
    for (const part of parts) expect(output).toMatch(part);
  },
  180_000,
);
