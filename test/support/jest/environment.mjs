import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/**
 * Runs test files in the context of their worker, so that they share the modules of Drover and its
 * packages. What a file changes of the process is put back when the file ends.
 */
export class SharedEnvironment {
  /** Jest's runner sets `console` and wraps `process.exit` here, once for each file. */
  global = Object.create(globalThis, {
    console: { value: globalThis.console, configurable: true, writable: true },
    process: { value: {} },
  });
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimersModern;
  #before = { console: globalThis.console, env: { ...process.env }, cwd: process.cwd() };

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {
    globalThis.console = this.global.console;
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    const { console, env, cwd } = this.#before;
    globalThis.console = console;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.chdir(cwd);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Nothing is run in a context of its own. */
  getVmContext() {
    return null;
  }
}

export default SharedEnvironment;
