import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { useGlobals } from './globals.mjs';
import { sourceMaps } from './modules.mjs';

const require = createRequire(import.meta.url);
/** Global symbols of the framework: the tests of a file, and handlers of its events. */
const FRAMEWORK = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL'];
let files = 0;

/** Loads test files by Node's loader. A worker loads each other module once. */
class SharedRuntime {
  #environment;

  constructor(_config, environment) {
    this.#environment = environment;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** The query makes the file a new module, also when it runs again. */
  async unstable_importModule(path) {
    await import(`${pathToFileURL(path)}?run=${++files}`);
  }

  requireModule(path) {
    return require(path);
  }

  /** The framework keeps the tests of one file, so each file loads it anew. */
  requireInternalModule(path) {
    for (const key of Object.getOwnPropertySymbols(globalThis))
      if (FRAMEWORK.includes(key.description)) delete globalThis[key];
    delete require.cache[path];
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    useGlobals({ ...globals, jest: jestOf(this.#environment) });
  }

  getSourceMaps() {
    return sourceMaps;
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
}

/** What tests use of the object `jest`. */
function jestOf({ moduleMocker: mocker, fakeTimersModern: timers }) {
  return {
    fn: (implementation) => mocker.fn(implementation),
    spyOn: (...of) => mocker.spyOn(...of),
    replaceProperty: (...of) => mocker.replaceProperty(...of),
    restoreAllMocks: () => mocker.restoreAllMocks(),
    useFakeTimers: (options) => timers.useFakeTimers(options),
    useRealTimers: () => timers.useRealTimers(),
    setSystemTime: (now) => timers.setSystemTime(now),
    getTimerCount: () => timers.getTimerCount(),
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
  };
}

export { SharedRuntime as 'module.exports' };
