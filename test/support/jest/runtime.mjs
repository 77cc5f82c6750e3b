import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SourceTextModule, SyntheticModule } from 'node:vm';
import { useGlobals } from './globals.mjs';
import { compile, sourceMaps, sourceOf } from './modules.mjs';

const require = createRequire(import.meta.url);
/** The global symbol of the framework's handlers of events. */
const HANDLERS = Symbol.for('EVENT_HANDLERS');
/** The description of the global symbol of the tests of a file. */
const STATE = 'JEST_STATE_SYMBOL';

/** Loads test files by Node's loader. A worker loads each other module once. */
class SharedRuntime {
  #environment;

  constructor(_config, environment) {
    this.#environment = environment;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /**
   * Node's loader would keep the test file for ever, and with it each server that its variables hold.
   */
  async unstable_importModule(path) {
    const address = pathToFileURL(path).href;
    const find = (name) => (name.startsWith('.') ? new URL(name, address).href : name);
    const load = (name) => import(sourceOf(name, address) ?? find(name));
    const file = new SourceTextModule(compile(address), {
      identifier: address,
      importModuleDynamically: load,
      initializeImportMeta: (meta) => {
        const resolve = (name) => import.meta.resolve(find(name));
        Object.assign(meta, { url: address, filename: path, dirname: dirname(path), resolve });
      },
    });
    await file.link(async (name) => moduleOf(await load(name)));
    await file.evaluate();
  }

  requireModule(path) {
    return require(path);
  }

  /** The framework keeps the tests of one file, so each file loads it anew. */
  requireInternalModule(path) {
    delete globalThis[HANDLERS];
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

  /** A timer or connection that outlives the file would hold its tests, and all of their variables. */
  teardown() {
    for (const key of Object.getOwnPropertySymbols(globalThis)) {
      if (key.description !== STATE) continue;
      forgetTests(globalThis[key].rootDescribeBlock);
      delete globalThis[key];
    }
  }
}

function forgetTests({ children, hooks }) {
  for (const one of [...children, ...hooks]) {
    if (one.type === 'describeBlock') forgetTests(one);
    else [one.fn, one.asyncError] = [];
  }
}

/** A module with the exports of a loaded one. */
function moduleOf(loaded) {
  const names = Object.keys(loaded);
  return new SyntheticModule(names, function () {
    for (const name of names) this.setExport(name, loaded[name]);
  });
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
