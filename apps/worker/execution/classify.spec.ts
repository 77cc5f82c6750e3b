import { describe, expect, test } from '@jest/globals';
import type { RunFailure } from '../api/types.js';
import { classifyExit, type ExitEvidence } from './classify.js';

const evidence = (known: Partial<ExitEvidence>): ExitEvidence => ({
  lost: false,
  exitCode: null,
  signal: null,
  oomKilled: false,
  lastWords: [],
  ...known,
});

describe('The end of a process', () => {
  test.each<[string, Partial<ExitEvidence>, Partial<RunFailure>]>([
    ['1', { exitCode: 1 }, { class: 'exit_code', retryable: true }],
    ['3', { exitCode: 3 }, { class: 'exit_code', retryable: true }],
    ['75', { exitCode: 75 }, { class: 'exit_code', retryable: true }],
    ['78', { exitCode: 78 }, { class: 'setup', retryable: false }],
    ['126', { exitCode: 126 }, { class: 'setup', retryable: false }],
    ['127', { exitCode: 127 }, { class: 'setup', retryable: false }],
    ['137', { exitCode: 137 }, { class: 'oom', signal: 'SIGKILL', retryable: true }],
    ['137 and the kernel killed', { exitCode: 137, oomKilled: true }, { class: 'oom' }],
    ['SIGKILL', { signal: 'SIGKILL' }, { class: 'signal', signal: 'SIGKILL' }],
    ['SIGKILL and the kernel killed', { signal: 'SIGKILL', oomKilled: true }, { class: 'oom' }],
    ['1 while the kernel killed', { exitCode: 1, oomKilled: true }, { class: 'exit_code' }],
    ['143', { exitCode: 143 }, { class: 'timeout', signal: 'SIGTERM', retryable: true }],
    ['162', { exitCode: 162 }, { class: 'signal', signal: 'SIGRTMIN+0', retryable: true }],
    ['192', { exitCode: 192 }, { class: 'signal', signal: 'SIGRTMIN+30' }],
    ['193', { exitCode: 193 }, { class: 'exit_code' }],
    ['SIGSEGV', { signal: 'SIGSEGV' }, { class: 'signal', signal: 'SIGSEGV' }],
    [
      'an end that nobody saw',
      { lost: true, oomKilled: null, lastWords: ['SyntaxError: in a file of the user'] },
      { class: 'infrastructure', retryable: true },
    ],
    ['255', { exitCode: 255 }, { class: 'exit_code', exitCode: 255 }],
    [
      'a heap that is full',
      {
        signal: 'SIGABRT',
        lastWords: ['FATAL ERROR: Allocation failed - JavaScript heap out of memory', ''],
      },
      { class: 'oom', retryable: true },
    ],
    [
      'a file that a quota refused, in the words of Node',
      { exitCode: 1, lastWords: ["{ errno: -122, code: 'UNKNOWN', syscall: 'write' }"] },
      { class: 'disk', retryable: true },
    ],
    [
      'a folder that is full',
      { exitCode: 1, folderFull: true },
      { class: 'disk', message: 'Exited with 1, and its folder is full' },
    ],
    [
      'a limit of memory',
      { signal: 'SIGKILL', oomKilled: true, exceeded: { limit: 'memory', mb: 512 } },
      { class: 'oom', message: 'The memory limit of 512 MiB was reached' },
    ],
    [
      'a program that lacks a module',
      { exitCode: 1, lastWords: ["Error: Cannot find module 'left-pad'"] },
      { class: 'exit_code', retryable: false },
    ],
    [
      'a program that says what it knows',
      { exitCode: 1, ownReport: { message: 'the quota is used up', retryable: false } },
      { class: 'exit_code', message: 'the quota is used up', retryable: false },
    ],
    [
      'a set-up failure that says it passes',
      { exitCode: 127, ownReport: { retryable: true } },
      { class: 'setup', message: 'Exited with 127', retryable: true },
    ],
  ])('the end is classified: %s', (_name, known, expected) => {
    expect(classifyExit(evidence(known))).toMatchObject(expected);
  });

  test('the message quotes the last line with text', () => {
    const failure = classifyExit(
      evidence({ exitCode: 2, lastWords: ['first', ' the reason ', ''] }),
    );
    expect(failure.message).toBe('Exited with 2: the reason');
    expect(failure.stackTrace).toBe('first\n the reason \n');
  });

  test('the message quotes the error of a program that Node ended', () => {
    const lastWords = ['Error: no such table', '    at f (a.js:1:1)', '', 'Node.js v20.20.2', ''];
    const { message } = classifyExit(evidence({ exitCode: 1, lastWords }));
    expect(message).toBe('Exited with 1: Error: no such table');
  });

  test("the message and the stack trace stay below the server's limits", () => {
    const long = 'x'.repeat(100_000);
    const failure = classifyExit(
      evidence({ exitCode: 2, lastWords: [long], ownReport: { message: long } }),
    );
    expect(failure.message.length).toBe(1_000);
    expect(failure.stackTrace?.length).toBe(8_000);
  });

  test.each([0, 1])('no text is cut in the middle of a character (shifted by %d)', (shift) => {
    const long = 'x'.repeat(shift) + '😀'.repeat(5_000);
    const own = classifyExit(evidence({ exitCode: 2, ownReport: { message: long } }));
    const quoted = classifyExit(evidence({ exitCode: 2, lastWords: [`${long}x`.slice(shift)] }));
    for (const { message, stackTrace = '' } of [own, quoted]) {
      expect([message.isWellFormed(), stackTrace.isWellFormed()]).toEqual([true, true]);
    }
  });
});
