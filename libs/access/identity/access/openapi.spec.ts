import { expect, it } from '@jest/globals';
import { type AuthOptions, describeAccess } from '../domain/access-plan.js';
import { callersInWords } from './openapi.js';

it.each<[AuthOptions, string]>([
  [
    { scope: 'tasks:read' },
    'users with the role VIEWER or above; API keys with that role and the scope `tasks:read`',
  ],
  [{ kinds: ['user'], role: 'OWNER' }, 'users with the role OWNER'],
  [
    { kinds: ['api_key', 'agent'], role: 'MEMBER', scope: 'tasks:write' },
    'API keys with the role MEMBER or above and the scope `tasks:write`; agents with their own token',
  ],
  [{ kinds: ['run'] }, 'processes that execute a run, with its token'],
  [{ workspace: false }, 'users, whatever their roles'],
  [{ workspace: false, operator: true }, 'operators of the installation'],
])('the callers of %j are described in words', (options, words) => {
  expect(callersInWords(describeAccess(options))).toBe(`Callers: ${words}.`);
});
