import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOOLS } from '../../libs/clients/mcp/tools/index.js';

/** docs/mcp.md lists every tool and has valid configuration. */

const page = readFileSync(join(import.meta.dirname, '../../docs/mcp.md'), 'utf8');
const [forPeople = '', forRuns = ''] = page.split('\n## The process of a run\n');

/** Reads the first column of the tool tables. */
const namesIn = (text: string) =>
  [...text.matchAll(/^\| `([a-z]+(?:_[a-z]+)*)` +\|/gm)].map(([, name]) => name).sort();

it.each([
  ['a run', forRuns, TOOLS.filter((tool) => tool.for === 'run')],
  ['people', forPeople, TOOLS.filter((tool) => tool.for !== 'run')],
])('docs/mcp.md lists the tools of %s', (_, text, tools) => {
  expect(namesIn(text)).toEqual(tools.map(({ name }) => name).sort());
});

it('docs/mcp.md names the scope of each tool for people', () => {
  for (const { name, for: whom } of TOOLS) {
    if (whom === 'run') continue;
    const row = new RegExp(`^\\| \`${name}\` .*\`([a-z:]+)\` +\\|$`, 'm').exec(forPeople);
    expect([name, row?.[1]]).toEqual([name, whom.scope]);
  }
});

it('the configuration in docs/mcp.md is valid JSON', () => {
  const blocks = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => text);
  expect(blocks.length).toBeGreaterThan(2);
  for (const block of blocks) expect(() => JSON.parse(block) as unknown).not.toThrow();
});
