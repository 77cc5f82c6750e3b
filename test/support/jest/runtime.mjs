import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { useGlobals } from './globals.mjs';
import { sourceMaps } from './modules.mjs';

const require = createRequire(import.meta.url);
/** Global symbols that hold the framework's tests and handlers. */
const FRAMEWORK = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL'];
let files = 0;

/** Loads test files with Node's own loader. A worker loads each other module once. */
class SharedRuntime {
  #environment;

  constructor(_config, environment) {
    this.#environment = environment;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** Runs a test file: the query tells its runs apart. */
  async unstable_importModule(path) {
    await import(`${pathToFileURL(path)}?run=${++files}`);
  }

  requireModule(path) {
    return require(path);
  }

  /** The framework is loaded anew for each file, because it keeps the file's tests. */
  requireInternalModule(path) {
    delete require.cache[path];
    for (const key of Object.getOwnPropertySymbols(globalThis))
      if (FRAMEWORK.includes(key.description)) delete globalThis[key];
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

function jestOf({ moduleMocker, fakeTimersModern: timers }) {
  const jest = {
    fn: moduleMocker.fn.bind(moduleMocker),
    spyOn: moduleMocker.spyOn.bind(moduleMocker),
    replaceProperty: moduleMocker.replaceProperty.bind(moduleMocker),
    restoreAllMocks: () => moduleMocker.restoreAllMocks(),
    useFakeTimers: (options) => timers.useFakeTimers(options),
    useRealTimers: () => timers.useRealTimers(),
    setSystemTime: (now) => timers.setSystemTime(now),
    getTimerCount: () => timers.getTimerCount(),
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
  };
  return jest;
}

export { SharedRuntime as 'module.exports' };
