import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { tellingLine } from './telling-line.js';

const JAVA = `Exception in thread "main" java.lang.RuntimeException: outer
	at App.main(App.java:7)
Caused by: java.io.IOException: disk is full
	at App.write(App.java:12)
	... 1 more`;

const PYTHON = `Traceback (most recent call last):
  File "a.py", line 3, in <module>
    raise ValueError("no such page")
ValueError: no such page`;

const NODE_WITH_PROPERTIES = `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module './gone.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15) {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
`;

test.each<[string, string, string | undefined]>([
  ['nothing', '', undefined],
  ['blank lines', '\n  \n', undefined],
  ['one line', ' no such table \n', 'no such table'],
  ['no error', 'first\nlast\n\n', 'last'],
  ['an error of Node', NODE_WITH_PROPERTIES, "Error: Cannot find module './gone.js'"],
  ['only the version of Node', 'Node.js v20.20.2\n', undefined],
  [
    'a line before the version of Node',
    'stopped by the policy\n\nNode.js v20.20.2',
    'stopped by the policy',
  ],
  [
    'an error with a code',
    'TypeError [ERR_INVALID_ARG_TYPE]: no\n    at f (a.js:1:1)',
    'TypeError [ERR_INVALID_ARG_TYPE]: no',
  ],
  ['an error without a message', 'Error\n    at f (a.js:1:1)\n\nNode.js v22.1.0', 'Error'],
  [
    'an error before other words',
    'Error: the first\nError: the second\ncleaned up',
    'Error: the second',
  ],
  ['Java', JAVA, 'Caused by: java.io.IOException: disk is full'],
  ['Python', PYTHON, 'ValueError: no such page'],
  ['Ruby', "a.rb:1:in `<main>': boom (RuntimeError)", "a.rb:1:in `<main>': boom (RuntimeError)"],
  [
    '.NET',
    'Unhandled exception. System.InvalidOperationException: bad\n   at App.Main()',
    'Unhandled exception. System.InvalidOperationException: bad',
  ],
  [
    'PHP',
    'PHP Fatal error:  Uncaught Exception: bad in a.php:3\n  thrown in a.php on line 3',
    'PHP Fatal error:  Uncaught Exception: bad in a.php:3',
  ],
  ['a word that only contains error', 'Errors: 0\nErroneous\n3 passed', '3 passed'],
  ['the line that throws', "throw new Error('x');\nlast", 'last'],
])('the telling line of the output is found: %s', (_name, words, expected) => {
  expect(tellingLine(words.split('\n'))).toBe(expected);
});

test('the last output of Node after an error names the error', () => {
  let words = '';
  try {
    execFileSync(process.execPath, ['-e', 'throw new RangeError("too far")'], { stdio: 'pipe' });
  } catch (error) {
    words = String((error as { stderr: Buffer }).stderr);
  }
  expect(words).toContain('Node.js v');
  expect(tellingLine(words.split('\n'))).toBe('RangeError: too far');
});

// The pattern runs on any output of a program.
test('a long line is searched in time', () => {
  const begun = performance.now();
  tellingLine(['$'.repeat(200_000), 'Error'.repeat(40_000), ' '.repeat(200_000) + 'x']);
  expect(performance.now() - begun).toBeLessThan(1_000);
});
