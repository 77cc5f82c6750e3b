import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderedSettings } from '../../tools/settings/table.js';

const root = join(import.meta.dirname, '../..');

it('docs/settings.md has the settings as the programs read them', () => {
  const committed = readFileSync(join(root, 'docs/settings.md'), 'utf8');
  if (committed !== renderedSettings(root)) {
    throw new Error('docs/settings.md is stale: run npm run settings');
  }
  expect(committed).toContain('| `DATABASE_URL`');
});
