import { afterAll, expect, it } from '@jest/globals';
import { readRoutes } from '../api/support/openapi.js';
import { sharedServer } from '../support/shared-server.js';
import { TOOLS } from '../../libs/clients/mcp/tools/index.js';

/** A tool is offered to exactly the callers that its route accepts. */

const app = await sharedServer();
const routes = await readRoutes(app.url);

afterAll(() => app.stop());

it.each(TOOLS.map((tool) => [tool.name, tool] as const))(
  'the tool %s is offered to the callers of its route',
  (_, { route, for: whom }) => {
    const access = routes.find(({ name }) => name === route.replace(' /api/v1', ' '))?.access;
    if (whom === 'run') expect(access?.kinds).toContain('run');
    else
      expect(access).toMatchObject({ kinds: expect.arrayContaining(['user', 'api_key']), ...whom });
  },
);

it('tool names are unique for each kind of caller', () => {
  const names = TOOLS.map((tool) => `${tool.for === 'run' ? 'run' : 'person'} ${tool.name}`);
  expect(new Set(names).size).toBe(names.length);
});
