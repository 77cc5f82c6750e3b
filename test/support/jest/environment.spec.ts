import { join } from 'node:path';
import { expect, it, type jest } from '@jest/globals';

interface Environment {
  setup(): Promise<void>;
  teardown(): Promise<void>;
  fakeTimersModern: { useFakeTimers(options: object): void };
  moduleMocker: Pick<typeof jest, 'spyOn'>;
}

const { SharedEnvironment } = (await import(join(import.meta.dirname, 'environment.mjs'))) as {
  SharedEnvironment: new (options: object) => Environment;
};

it('what a test file changes of the process ends with the file', async () => {
  const look = () => ({ env: { ...process.env }, folder: process.cwd(), uptime: process.uptime });
  const [before, from] = [look(), Date.now()];
  const environment = new SharedEnvironment({ projectConfig: { fakeTimers: {} } });
  await environment.setup();
  Object.assign(process.env, { ADDED: '1', HOME: '/nowhere' });
  delete process.env['PATH'];
  process.chdir('/');
  environment.fakeTimersModern.useFakeTimers({ now: 0 });
  environment.moduleMocker.spyOn(process, 'uptime');
  await environment.teardown();
  expect(look()).toEqual(before);
  expect(Date.now()).toBeGreaterThanOrEqual(from);
});
