import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withCatalogue } from '../../tools/events/catalogue.js';

it('docs/events.md has the catalogue of events as the code has it', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/events.md'), 'utf8');
  if (page !== withCatalogue(page)) throw new Error('docs/events.md is stale: run npm run events');
  expect(page).toContain('### `task.status_changed`');
});
