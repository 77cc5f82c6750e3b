import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** The context of the worker itself. What a test file changes of the process ends with the file. */
export class SharedEnvironment {
  /** Jest sets `console` and wraps `process.exit` here, once for each file. */
  global = Object.create(globalThis, {
    console: { value: globalThis.console, configurable: true, writable: true },
    process: { value: {} },
  });
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimersModern;
  #before = { console: globalThis.console, env: { ...process.env }, folder: process.cwd() };

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {
    globalThis.console = this.global.console;
    // Jest keeps 100 calls of each error, and `expect` makes an error for each comparison.
    Error.stackTraceLimit = 25;
  }

  async teardown() {
    const { console, env, folder } = this.#before;
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    globalThis.console = console;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.chdir(folder);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest asks for it, and uses it for coverage alone. */
  getVmContext() {
    return null;
  }
}

export default SharedEnvironment;
