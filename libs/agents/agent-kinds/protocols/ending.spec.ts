import { describe, expect, it } from '@jest/globals';
import type { AgentExit } from '../domain/agent-kind.js';
import { Ending } from './ending.js';
import type { TurnOutcome, Turns } from './turns.js';

interface Case {
  outcome?: TurnOutcome;
  isInputClosed?: boolean;
  hasSession?: boolean;
  errors?: string;
}

function endOf(exit: Partial<AgentExit>, given: Case = {}) {
  const ending = new Ending();
  ending.summary = 'The file is written.';
  ending.hasSession = given.hasSession ?? true;
  if (given.errors !== undefined) ending.errorLine(given.errors);
  const turns = { outcome: given.outcome, isInputClosed: given.isInputClosed ?? false } as Turns;
  return ending.of({ exitCode: null, signal: null, ...exit }, turns);
}

const COMPLETED: Case = { outcome: 'completed', isInputClosed: true };

describe('the end of a session', () => {
  it('a completed turn and exit code 0 succeed', () => {
    expect(endOf({ exitCode: 0 }, COMPLETED)).toEqual({
      kind: 'done',
      summary: 'The file is written.',
    });
  });

  it('a program that its host ended after a completed turn succeeds', () => {
    expect(endOf({ signal: 'SIGTERM' }, COMPLETED).kind).toBe('done');
    expect(endOf({ exitCode: 137 }, COMPLETED).kind).toBe('done');
  });

  it('another exit code after a completed turn is a crash', () => {
    expect(endOf({ exitCode: 1 }, COMPLETED)).toMatchObject({ class: 'crash', retryable: true });
  });

  it.each([0, 1])('an interrupted turn is no failure with exit code %s', (exitCode) => {
    const end = endOf({ exitCode }, { outcome: 'interrupted', isInputClosed: true });
    expect(end).toEqual({ kind: 'interrupted' });
  });

  it.each<[string, Partial<AgentExit>, Case, string]>([
    ['SIGTERM in mid-turn', { signal: 'SIGTERM' }, {}, 'killed'],
    ['SIGINT in mid-turn', { signal: 'SIGINT' }, {}, 'killed'],
    ['143 in mid-turn', { exitCode: 143 }, {}, 'killed'],
    ['0 in mid-turn', { exitCode: 0 }, {}, 'killed'],
    ['SIGABRT', { signal: 'SIGABRT' }, {}, 'memory'],
    ['SIGTRAP as 133', { exitCode: 133 }, {}, 'memory'],
    ['SIGILL as 132', { exitCode: 132 }, {}, 'memory'],
    ['SIGSEGV', { signal: 'SIGSEGV' }, {}, 'crash'],
    ['a heap that is full', { exitCode: 1 }, { errors: 'JavaScript heap out of memory' }, 'memory'],
    ['1 in mid-turn', { exitCode: 1 }, {}, 'crash'],
    ['429 on the error output', { exitCode: 173 }, { errors: 'status 429' }, 'rate_limited'],
    ['1 before the session', { exitCode: 1 }, { hasSession: false, errors: 'bad option' }, 'setup'],
    ['0 before the session', { exitCode: 0 }, { hasSession: false }, 'setup'],
  ])('%s is %s', (_name, exit, given, expected) => {
    expect(endOf(exit, given)).toMatchObject({ kind: 'failed', class: expected });
  });

  it('the failure of the last turn outweighs the exit', () => {
    const ending = new Ending();
    ending.fails('rate_limited', 'Too many requests');
    const turns = { outcome: 'failed', isInputClosed: true } as Turns;
    const end = ending.of({ exitCode: 0, signal: null }, turns);
    expect(end).toMatchObject({ class: 'rate_limited', message: 'Too many requests' });
  });
});
