import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isGroup } from './command.js';
import { COMMANDS } from './commands.js';
import { buildProgram, commandName } from './program.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8');

describe('the command table', () => {
  it.each(COMMANDS.map(({ name }) => [name]))(
    'the command %s has help with an example',
    async (name) => {
      const entry = COMMANDS.find((one) => one.name === name);
      const found = (await entry?.load())?.default[name];
      if (found === undefined) throw new Error(`${name} has no command`);
      const specs = isGroup(found) ? found.commands : [found];
      for (const spec of specs) {
        expect(spec.examples.length).toBeGreaterThan(0);
        for (const example of spec.examples) expect(example.split(' ')[0]).toBe(name);
        expect(page).toContain(isGroup(found) ? commandName(spec) : name);
      }
      await buildProgram(COMMANDS, name, () => undefined);
    },
  );
});
