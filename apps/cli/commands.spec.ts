import { describe, expect, it } from '@jest/globals';
import { Option } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isGroup } from './command.js';
import { COMMANDS } from './commands.js';
import { Flags } from './flags.js';
import { buildProgram, commandName } from './program.js';
import { toTaskFields } from './task-file.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8');

it('task edit has only options that the API can change', async () => {
  const load = COMMANDS.find(({ name }) => name === 'task')?.load;
  const { task } = (await load?.())?.default ?? {};
  const edit = task && isGroup(task) && task.commands.find(({ usage }) => usage.startsWith('edit'));
  if (!edit) throw new Error('There is no `task edit`');
  const path = join(import.meta.dirname, '../../libs/clients/api-client/openapi.json');
  const { components } = JSON.parse(readFileSync(path, 'utf8')) as {
    components: { schemas: { UpdateTask: { properties: object } } };
  };
  const changed = new Set(Object.keys(components.schemas.UpdateTask.properties));
  const values: Record<string, unknown> = { secret: ['A=1'], tag: ['t'], capability: ['c'] };
  for (const [text] of edit.options ?? []) {
    const name = new Option(text).attributeName();
    const fields = toTaskFields(new Flags({ [name]: values[name] ?? '7' }), []);
    expect({ text, fields: Object.keys(fields).filter((field) => changed.has(field)) }).toEqual({
      text,
      fields: [expect.any(String)],
    });
  }
});

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
