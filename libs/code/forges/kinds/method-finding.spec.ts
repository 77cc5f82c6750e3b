import { expect, it } from '@jest/globals';
import { methodFinding } from './method-finding.js';

it('a forge without the merge method is a fault where Drover cannot push', () => {
  const find = (isNeeded: boolean, isAllowed?: boolean) =>
    methodFinding('squash', { isNeeded, isAllowed });
  expect(find(true, false)).toMatchObject({
    isFine: false,
    message: expect.stringContaining('allow it there'),
  });
  expect(find(false, false)).toMatchObject({ isFine: true });
  expect(find(true, true)).toMatchObject({ isFine: true });
  // A token without administration does not see it.
  expect(find(true)).toMatchObject({ isFine: true });
});
