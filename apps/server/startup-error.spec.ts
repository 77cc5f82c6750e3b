import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '#lib/config';
import { DroverError } from '#lib/kernel';
import { explainStartup, StartupError } from './startup-error.js';

const config = loadConfig({
  DATABASE_URL: 'postgres://drover_app:s3cret@db.example:5432/drover',
  DATABASE_SERVICE_URL: 'postgres://drover_service:s3cret@db.example:5432/drover',
  VALKEY_URL: 'redis://localhost',
  JWT_SECRET: 'x'.repeat(32),
  ENCRYPTION_KEYS: `tests:${'A'.repeat(43)}=`,
  PORT: '3000',
});

const withCode = (code: string) => Object.assign(new Error('s3cret'), { code });

describe('an error at the start', () => {
  it.each([
    [new StartupError('Do this.'), 'Do this.'],
    [withCode('EADDRINUSE'), 'Another program listens on 127.0.0.1:3000'],
    [withCode('EACCES'), 'set PORT to a number above 1023'],
    [withCode('EADDRNOTAVAIL'), 'correct HOST'],
    [withCode('28P01'), 'refuses the sign-in'],
    [withCode('3D000'), 'does not exist'],
    [
      withCode('ECONNREFUSED'),
      'The database at db.example:5432/drover cannot be reached (ECONNREFUSED)',
    ],
    [
      new DroverError('database_unavailable', { cause: withCode('ENOTFOUND') }),
      'cannot be reached (ENOTFOUND)',
    ],
    [new DroverError('database_unavailable'), 'cannot be reached (no answer)'],
  ])('the start-up error %s is one sentence without a secret', (error, words) => {
    const sentence = explainStartup(error, config);
    expect(sentence).toContain(words);
    expect(sentence).not.toContain('s3cret');
  });

  it('an unexpected start-up error stays unchanged', () => {
    expect(explainStartup(new TypeError('x'), config)).toBeUndefined();
  });
});
