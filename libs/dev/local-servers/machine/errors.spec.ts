import { describe, expect, it } from '@jest/globals';
import { EmbeddedError, explainFileError } from './errors.js';
import { explainPostgres } from '../postgres/postgres-errors.js';
import { explainValkey } from '../valkey/valkey-errors.js';

const ONE_SENTENCE = /^[A-Z/][^\n]*[^.]\.$/;

describe('explainPostgres', () => {
  it.each([
    ['FATAL:  lock file "postmaster.pid" already exists', 'data_folder_in_use'],
    ['could not bind IPv4 address "127.0.0.1": Address already in use', 'port_taken'],
    ['initdb: error: could not create file: No space left on device', 'disk_full'],
    ['HINT:  Check free disk space.', 'disk_full'],
    ['FATAL:  could not open file "x": Permission denied', 'permission_denied'],
    ['error: password authentication failed for user "postgres"', 'data_folder_foreign'],
    ['FATAL:  invalid value for parameter "shared_buffers"', 'server_failed'],
    ['', 'server_failed'],
  ])('%j is explained as %s', (line, code) => {
    const error = explainPostgres(line === '' ? [] : ['LOG:  starting', line], {
      folder: '/data',
      port: 5432,
    });
    expect(error.code).toBe(code);
    expect(error.message).toMatch(ONE_SENTENCE);
  });
});

describe('explainValkey', () => {
  it.each([
    ['# Failed listening on port 6379 (tcp), aborting.', 'port_taken'],
    ["# Can't open the append-only file: No space left on device", 'disk_full'],
    ["# Can't chdir to '/data': Permission denied", 'permission_denied'],
    ['*** FATAL CONFIG FILE ERROR', 'server_failed'],
  ])('%j is explained as %s', (line, code) => {
    const error = explainValkey([line], { folder: '/data', port: 6379 });
    expect(error.code).toBe(code);
    expect(error.message).toMatch(ONE_SENTENCE);
  });
});

describe('explainFileError', () => {
  it.each([
    ['ENOSPC', 'disk_full'],
    ['EACCES', 'permission_denied'],
    ['EROFS', 'permission_denied'],
  ])('%s is explained as %s', (code, expected) => {
    const explained = explainFileError(Object.assign(new Error(), { code }), '/data');
    expect(explained).toBeInstanceOf(EmbeddedError);
    expect(explained).toMatchObject({ code: expected, message: expect.stringMatching('/data') });
  });

  it('an exceeded quota, for which Node has no name, is explained as disk_full', () => {
    const error = Object.assign(new Error(), { code: 'UNKNOWN', errno: -122 });
    expect(explainFileError(error, '/data')).toMatchObject({ code: 'disk_full' });
  });

  it('any other error stays unchanged', () => {
    const error = new Error('something else');
    expect(explainFileError(error, '/data')).toBe(error);
  });
});
