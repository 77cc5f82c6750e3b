import { expect, it } from '@jest/globals';
import { readSources } from './sources.js';

/**
 * Routes that do not store their answer in the transaction of their work. They run again if a
 * client repeats a request whose answer was lost. The rows that they find prevent a second effect.
 */
const RUN_AGAIN = [
  'libs/code/repositories/http/repositories.controller.ts create',
  'libs/work/questions/http/questions.controller.ts answer',
  'libs/work/questions/http/questions.controller.ts ask',
  'libs/work/runs/http/agent-tasks.controller.ts terminate',
  'libs/work/task-manager/http/bulk-commands.controller.ts archive',
  'libs/work/task-manager/http/bulk-commands.controller.ts cancel',
  'libs/work/task-manager/http/bulk-commands.controller.ts prioritize',
  'libs/work/task-manager/http/bulk-commands.controller.ts retry',
  'libs/work/task-manager/http/dead-letter.controller.ts replay',
  'libs/work/task-manager/http/task-commands.controller.ts archive',
  'libs/work/task-manager/http/task-commands.controller.ts cancel',
  'libs/work/task-manager/http/task-commands.controller.ts pause',
  'libs/work/task-manager/http/task-commands.controller.ts resume',
  'libs/work/task-manager/http/task-commands.controller.ts retry',
  'libs/work/task-manager/http/task-dependencies.controller.ts add',
  'libs/work/task-manager/http/task-update.controller.ts assign',
  // Webhooks deliver at least once.
  'libs/events/webhooks/http/deliveries.controller.ts replay',
  'libs/events/webhooks/http/deliveries.controller.ts test',
];

const HANDLER = /@Idempotent\(\)[^]*?\n {2}(?:async )?(\w+)\(([^]*?)\n {2}\}/g;

const routes = readSources('apps', 'libs')
  .filter(({ path }) => path.endsWith('.controller.ts'))
  .flatMap(({ path, text }) =>
    [...text.matchAll(HANDLER)].map(([, name = '', rest = '']) => ({
      name: `${path} ${name}`,
      stores: /@Idempotency\(\)|\bidempotency\b/.test(rest),
    })),
  );

it('a route with an Idempotency-Key stores its answer in the transaction of its work', () => {
  const others = routes.filter(({ stores }) => !stores).map(({ name }) => name);
  expect(others.filter((name) => !RUN_AGAIN.includes(name))).toEqual([]);
  expect(routes.length).toBeGreaterThan(RUN_AGAIN.length);
});
