import { describe, expect, it } from '@jest/globals';
import type { ForgeEvent } from '../kinds/forge.js';
import { withBlock } from './block.js';
import { latestVerdicts } from './latest-verdicts.js';
import { whyUnchecked } from './required-checks.js';

describe('a description', () => {
  it('keeps the words of people around the part of Drover', () => {
    const first = withBlock('', 'one');
    const edited = `Before\r\n${first}\r\nAfter`;
    expect(withBlock(edited, 'two')).toBe(`Before\n${first.replace('one', 'two')}\nAfter`);
    expect(withBlock('Written by hand', 'one')).toBe(`Written by hand\n\n${first}`);
  });
});

describe('verdicts', () => {
  const event = (id: string, login: string, verdict: ForgeEvent['verdict']): ForgeEvent => ({
    id,
    login,
    verdict,
    commit: null,
    body: '',
    comments: [],
  });

  it('only the last verdict of each person counts', () => {
    const events = [
      event('1', 'ada', 'changes_requested'),
      event('2', 'bob', 'changes_requested'),
      event('3', 'ada', 'approved'),
      event('4', 'ada', 'commented'),
    ];
    expect(latestVerdicts(events).map(({ verdict }) => verdict)).toEqual([
      'commented',
      'changes_requested',
      'approved',
      'commented',
    ]);
  });
});

describe('required checks', () => {
  const check = (name: string, state: 'pending' | 'success' | 'failure', description = '') => ({
    name,
    state,
    description,
  });

  it.each([
    [['build'], [], 'The check build is not reported yet'],
    [['build'], [check('build', 'pending')], 'The check build is under way'],
    [['build'], [check('build', 'failure', '3 tests')], 'The check build failed: 3 tests'],
    [['build', 'lint'], [check('build', 'success')], 'The check lint is not reported yet'],
    [['build'], [check('build', 'success'), check('other', 'failure')], undefined],
    [[], [check('other', 'failure')], undefined],
  ])('%j of %j: %s', (required, checks, why) => {
    expect(whyUnchecked(required, { all: checks })?.reason).toBe(why);
  });
});
