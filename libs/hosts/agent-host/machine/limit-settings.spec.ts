import { expect, test } from '@jest/globals';
import { countsBySandbox } from '#lib/session-runtime';
import { describeGroups } from './limit-settings.js';

const isRoot = process.getuid?.() === 0;

test.each([
  ['an account of each workspace', { hasAccounts: true, sharesAccount: false }, true],
  ['one user for all', { hasAccounts: true, sharesAccount: true }, false],
  [
    'the user of the host',
    { hasAccounts: false, sharesAccount: false },
    !isRoot && countsBySandbox(),
  ],
])(
  'without control groups the log tells whether processes of %s are limited',
  (_, of, isLimited) => {
    const { words } = describeGroups({ reason: 'there are none' }, of);
    const counted = isLimited ? '' : ' and processes are not limited';
    expect(words).toBe(
      `no control groups: memory is measured once a second${counted}, since there are none`,
    );
  },
);
