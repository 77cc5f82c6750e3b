import { expect, test } from '@jest/globals';
import { scriptOf } from './shell-words.js';

test.each([
  [`/bin/bash -lc 'npm test'`, 'npm test'],
  [`bash -c "echo \\"\\$HOME\\""`, 'echo "$HOME"'],
  [`/bin/bash -lc 'printf %s '"'"'a b'"'"' > c'`, `printf %s 'a b' > c`],
  ['sh -c ls', 'ls'],
  ['/usr/bin/zsh -c ls', 'ls'],
  ['./bash -lc ls', './bash -lc ls'],
  ['/tmp/bin/sh -c ls', '/tmp/bin/sh -c ls'],
  ['npm test', 'npm test'],
  [`bash -lc 'npm test' extra`, `bash -lc 'npm test' extra`],
  [`bash -lc 'open`, `bash -lc 'open`],
  ['', ''],
])('the script of %s is %s', (command, script) => {
  expect(scriptOf(command)).toBe(script);
});
