import { expect, it } from '@jest/globals';
import { DroverProblem, type Problem } from '#lib/api-client';
import { adviceFor, nameOfField } from './advice.js';
import { toFailure } from './failure.js';

const SPEC = {
  usage: 'create <tokens>',
  options: [
    ['--project <project>', 'project'],
    ['--retry-backoff <duration>', 'delay'],
    ['--tag <name...>', 'tags'],
  ],
} as const;

it.each([
  ['scopeId', '--project'],
  ['projectId', '--project'],
  ['retryBackoffSeconds', '--retry-backoff'],
  ['tags[0]', '--tag'],
  ['tasks[0].projectId', '--project'],
  ['allocated', '<tokens>'],
  ['metadata', 'metadata'],
])('the field %s is named as %s', (field, name) => {
  expect(nameOfField(field, SPEC)).toBe(name);
});

it.each([
  ['webhook_unsigned', 'Change `url` or `recipients` by PATCH.', /--help/],
  [
    'database_unavailable',
    'The server changed nothing. Try again after the seconds in Retry-After.',
    /^The server changed nothing\.$/,
  ],
  ['task_not_found', 'Check the id and the workspace.', /^Check the id and the workspace\.$/],
] as const)('the advice for %s has no words of the API', (code, advice, shown) => {
  expect(adviceFor({ code, advice })).toMatch(shown);
});

it.each([
  ['Only operators of this installation may, signed in as users.', /operator must sign in with/],
  ['All workspaces are for operators of the installation, signed in as users.', /`drover login`/],
  ['This needs the role ADMIN.', /^Ask an OWNER or ADMIN of the workspace\.$/],
])('the advice for the refusal "%s" names the person who can help', (detail, shown) => {
  expect(adviceFor({ code: 'forbidden', advice: 'Ask.', detail })).toMatch(shown);
});

it('a refusal names the options, and its state without the general title', () => {
  const problem = (fields: Partial<Problem>) =>
    new DroverProblem(
      { status: 409, title: 'No', advice: 'Read `current`.', ...fields } as Problem,
      1,
    );
  const invalid = problem({
    code: 'validation_failed',
    errors: [{ field: 'scopeId', message: 'must name the project' }],
  } as Partial<Problem>);
  expect(toFailure(invalid, SPEC).message).toBe('No\n  --project: must name the project');
  const refused = problem({ code: 'illegal_transition', detail: "The task can't be cancelled." });
  expect(toFailure(refused, SPEC).message).toBe("The task can't be cancelled.");
});
