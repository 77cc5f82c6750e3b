import { describe, expect, test } from '@jest/globals';
import { classOfExit, type ExitClass, type ExitFacts, programFault } from './exit-classes.js';

const facts = (known: Partial<ExitFacts>): ExitFacts => ({
  lost: false,
  exitCode: null,
  signal: null,
  oomKilled: false,
  heapIsFull: false,
  quotaIsFull: false,
  asked: false,
  ...known,
});

describe('The class of an end', () => {
  test.each<[Partial<ExitFacts>, ExitClass]>([
    [{ lost: true, oomKilled: null }, 'infrastructure'],
    [{ lost: true, oomKilled: null, heapIsFull: true, asked: true }, 'infrastructure'],
    [{ signal: 'SIGKILL', oomKilled: true }, 'oom'],
    [{ signal: 'SIGKILL', oomKilled: true, asked: true }, 'oom'],
    [{ exitCode: 137, oomKilled: true, asked: true }, 'oom'],
    [{ exitCode: 1, oomKilled: true }, 'exit_code'],
    [{ signal: 'SIGKILL', exceeded: { limit: 'disk' } }, 'disk'],
    [{ signal: 'SIGKILL', exceeded: { limit: 'disk' }, oomKilled: null, asked: true }, 'disk'],
    [{ signal: 'SIGKILL', exceeded: { limit: 'memory' } }, 'oom'],
    [{ lost: true, exceeded: { limit: 'disk' } }, 'infrastructure'],
    [{ signal: 'SIGKILL', oomKilled: null }, 'oom'],
    [{ signal: 'SIGKILL', oomKilled: null, asked: true }, 'signal'],
    [{ signal: 'SIGKILL' }, 'signal'],
    [{ signal: 'SIGABRT', heapIsFull: true }, 'oom'],
    [{ exitCode: 134, heapIsFull: true, asked: true }, 'oom'],
    [{ exitCode: 1, quotaIsFull: true }, 'disk'],
    [{ signal: 'SIGKILL', oomKilled: true, quotaIsFull: true }, 'oom'],
    [{ exitCode: 137 }, 'oom'],
    [{ exitCode: 137, asked: true }, 'signal'],
    [{ exitCode: 143 }, 'timeout'],
    [{ exitCode: 143, asked: true }, 'signal'],
    [{ exitCode: -1 }, 'infrastructure'],
    [{ exitCode: -1, asked: true }, 'infrastructure'],
    [{ exitCode: 78 }, 'setup'],
    [{ exitCode: 126 }, 'setup'],
    [{ exitCode: 127 }, 'setup'],
    [{ signal: 'SIGTERM' }, 'signal'],
    [{ exitCode: 130 }, 'signal'],
    [{ exitCode: 162 }, 'signal'],
    [{ exitCode: 192 }, 'signal'],
    [{ exitCode: 193 }, 'exit_code'],
    [{ exitCode: 75 }, 'exit_code'],
    [{ exitCode: 1 }, 'exit_code'],
  ])('%j has the class %s', (known, expected) => {
    expect(classOfExit(facts(known))).toBe(expected);
  });
});

describe('the fault of a program', () => {
  test.each([
    ["SyntaxError: Unexpected token '}'\n    at wrapSafe (node:internal)", true],
    ["Error: Cannot find module './nosuch.js'", true],
    ['SyntaxError: Unexpected token \'<\', "<!DOCTYPE\\n"... is not valid JSON', false],
    ['SyntaxError: Unexpected end of JSON input\n    at JSON.parse (<anonymous>)', false],
    ['SyntaxError: Expected double-quoted property name in JSON at position 9', false],
  ])('the words %j name one: %s', (words, isFault) => {
    expect(programFault(words) !== undefined).toBe(isFault);
  });
});
