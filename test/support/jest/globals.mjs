// What test files and their helpers import as `@jest/globals`. The worker keeps helpers from file to
// file, so each name leads to the globals of the file that runs.

let current;

/** @param globals of the test file that runs from now on */
export function useGlobals(globals) {
  current = globals;
}

const follow = (name) =>
  new Proxy(function global() {}, {
    apply: (_target, self, args) => Reflect.apply(current[name], self, args),
    get: (_target, key) => current[name][key],
    set: (_target, key, value) => Reflect.set(current[name], key, value),
    has: (_target, key) => key in current[name],
  });

export const expect = follow('expect');
export const jest = follow('jest');
export const describe = follow('describe');
export const it = follow('it');
export const test = follow('test');
export const beforeAll = follow('beforeAll');
export const beforeEach = follow('beforeEach');
export const afterEach = follow('afterEach');
export const afterAll = follow('afterAll');
