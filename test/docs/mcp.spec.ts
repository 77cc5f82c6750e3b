import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOOLS } from '../../libs/clients/mcp/tools/index.js';

/** docs/mcp.md has every tool in its table, and configuration that can be copied. */

const page = readFileSync(join(import.meta.dirname, '../../docs/mcp.md'), 'utf8');
const [forPeople = '', forRuns = ''] = page.split('\n## What executes a run\n');

/** The first column of the tables that have tools. */
const namesIn = (text: string) =>
  [...text.matchAll(/^\| `([a-z]+(?:_[a-z]+)*)` +\|/gm)].map(([, name]) => name).sort();

it.each([
  ['a run', forRuns, TOOLS.filter((tool) => tool.for === 'run')],
  ['people', forPeople, TOOLS.filter((tool) => tool.for !== 'run')],
])('lists the tools of %s', (_, text, tools) => {
  expect(namesIn(text)).toEqual(tools.map(({ name }) => name).sort());
});

it('names the scope that each tool of people needs', () => {
  for (const { name, for: whom } of TOOLS) {
    if (whom === 'run') continue;
    const row = new RegExp(`^\\| \`${name}\` .*\`([a-z:]+)\` +\\|$`, 'm').exec(forPeople);
    expect([name, row?.[1]]).toEqual([name, whom.scope]);
  }
});

it('shows configuration that is JSON', () => {
  const blocks = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => text);
  expect(blocks.length).toBeGreaterThan(2);
  for (const block of blocks) expect(() => JSON.parse(block) as unknown).not.toThrow();
});
