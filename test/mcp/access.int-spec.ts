import { afterAll, expect, it } from '@jest/globals';
import { readRoutes } from '../api/support/openapi.js';
import { sharedServer } from '../support/shared-server.js';
import { TOOLS } from '../../libs/clients/mcp/tools/index.js';

/** A tool is offered to exactly those whom its route takes. */

const app = await sharedServer();
const routes = await readRoutes(app.url);

afterAll(() => app.stop());

it.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s', (_, { route, for: whom }) => {
  const access = routes.find(({ name }) => name === route.replace(' /api/v1', ' '))?.access;
  if (whom === 'run') expect(access?.kinds).toContain('run');
  else
    expect(access).toMatchObject({ kinds: expect.arrayContaining(['user', 'api_key']), ...whom });
});

it('names each tool once to everybody', () => {
  const names = TOOLS.map((tool) => `${tool.for === 'run' ? 'run' : 'person'} ${tool.name}`);
  expect(new Set(names).size).toBe(names.length);
});
