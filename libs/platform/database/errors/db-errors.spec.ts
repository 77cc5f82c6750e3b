import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { DroverError } from '#lib/kernel';
import { isUnreachable, refusesWrites, translateError } from './db-errors.js';

const pgError = (code: string, severity = 'ERROR') =>
  Object.assign(new Error('of the driver'), { code, severity });

const codeOf = (error: unknown, written: boolean) => {
  const translated = translateError(error, written);
  return translated instanceof DroverError ? translated.code : undefined;
};

describe('a database that accepts no changes', () => {
  it.each(['25006', '53100', '53200', '58030'])('%s is an outage that changed nothing', (code) => {
    const error = pgError(code);
    expect([isUnreachable(error), refusesWrites(error)]).toEqual([true, true]);
    expect([codeOf(error, false), codeOf(error, true)]).toEqual([
      'database_unavailable',
      'database_unavailable',
    ]);
    expect(refusesWrites(translateError(error, true))).toBe(true);
  });

  it.each(['25P03', '25P04', '57P05'])('%s means that the session was ended', (code) => {
    expect(isUnreachable(pgError(code, 'FATAL'))).toBe(true);
    expect(refusesWrites(pgError(code, 'FATAL'))).toBe(false);
  });

  it('08P01 is an outage when a pooler ends the session with it, and a bug otherwise', () => {
    expect(codeOf(pgError('08P01', 'FATAL'), false)).toBe('database_unavailable');
    expect(codeOf(pgError('08P01', 'FATAL'), true)).toBe('outcome_unknown');
    expect(codeOf(pgError('08P01'), false)).toBeUndefined();
  });
});

describe('a socket error', () => {
  it('a socket error from any realm is an outage', () => {
    const reset = "Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })";
    const error: unknown = runInNewContext(reset);
    expect(error instanceof Error).toBe(false);
    expect(isUnreachable(error)).toBe(true);
    expect(codeOf(error, false)).toBe('database_unavailable');
  });
});
