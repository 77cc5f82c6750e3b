import { describe, expect, it } from '@jest/globals';
import {
  allowsOperation,
  decidePermission,
  errorInRules,
  matchesPattern,
  operationRulesOf,
  type PermissionRule,
  type ToolUse,
} from './permission-rules.js';

const rule = (tool: string, pattern: string, decision: PermissionRule['decision']) => ({
  tool,
  pattern,
  decision,
});
const shell = (command: string): ToolUse => ({
  tool: 'Bash',
  category: 'shell',
  subjects: [command],
});
const edit = (...subjects: string[]): ToolUse => ({ tool: 'Write', category: 'edit', subjects });

describe('a pattern', () => {
  it.each([
    ['project.get', 'project.get', true],
    ['project.get', 'project.gets', false],
    ['engineering.*', 'engineering.build', true],
    ['*', '', true],
    ['npm * --if-present', 'npm run lint --if-present', true],
    ['a*a', 'a', false],
    ['*b*b*', 'ab', false],
    ['a.c', 'abc', false],
  ])('%s and %s: %s', (pattern, text, matches) => {
    expect(matchesPattern(pattern, text)).toBe(matches);
  });
});

describe('the decision about a tool', () => {
  const rules = [
    rule('shell', 'git push*', 'deny'),
    rule('Bash', 'npm test*', 'allow'),
    rule('edit', 'src/*', 'allow'),
    rule('mcp__*', '*', 'ask'),
  ];

  it.each([
    ['the first rule counts', shell('git push origin'), 'deny'],
    ['a part of a command is denied', shell('cd src && git push'), 'deny'],
    ['a command in $( ) is denied', shell('echo $(git push)'), 'deny'],
    ['blanks hide no command', shell('git  push'), 'deny'],
    ['a tab hides no command', shell('git\tpush origin'), 'deny'],
    ['a continued line hides no command', shell('git \\\n  push'), 'deny'],
    ['an escaped backslash continues no line', shell('echo \\\\\ngit push'), 'deny'],
    ['braces hide no command', shell('{ git push; }'), 'deny'],
    ['a condition hides no command', shell('if true; then git push; fi'), 'deny'],
    ['a negation hides no command', shell('! git push'), 'deny'],
    ['assignments hide no command', shell('A=1 B="x y" time git push'), 'deny'],
    ['other words remain', shell('echo then git push'), 'ask'],
    ['a wildcard allows a command', shell('npm test -- one'), 'allow'],
    ['a wildcard allows no further command', shell('npm test; rm -rf .'), 'ask'],
    ['a wildcard allows no output to a file', shell('npm test > /etc/passwd'), 'ask'],
    ['a path is allowed', edit('src/index.ts'), 'allow'],
    ['each path must be allowed', edit('src/index.ts', '/etc/passwd'), 'ask'],
    ['no rule matches', shell('make'), 'ask'],
  ])('%s', (_name, use, decision) => {
    expect(decidePermission(rules, 'ask', use)).toBe(decision);
  });

  it('a tool of an unknown class is never allowed by the mode beside rules', () => {
    const use: ToolUse = { tool: 'other', category: 'other', subjects: ['x'], isUnknown: true };
    expect(decidePermission(rules, 'auto', use)).toBe('ask');
    expect(decidePermission(rules, 'read-only', use)).toBe('deny');
    expect(decidePermission([], 'auto', use)).toBe('allow');
    expect(decidePermission(rules, 'auto', { ...use, isUnknown: false })).toBe('allow');
  });

  it('* alone allows every command', () => {
    expect(decidePermission([rule('shell', '*', 'allow')], 'ask', shell('a; b'))).toBe('allow');
  });

  it.each([
    ['auto', shell('ls'), 'allow'],
    ['ask', shell('ls'), 'ask'],
    ['read-only', shell('ls'), 'deny'],
    ['read-only', { tool: 'read', category: 'read', subjects: ['a'] }, 'allow'],
  ] as const)('the mode %s decides without rules', (mode, use, decision) => {
    expect(decidePermission([], mode, use)).toBe(decision);
  });
});

it('rules for the API are in the order of the task, and deny what they name', () => {
  const rules = operationRulesOf([
    rule('shell', '*', 'deny'),
    rule('drover', 'createTask', 'allow'),
    rule('drover', 'create*', 'deny'),
  ]);
  expect(rules).toEqual(['+createTask', '-create*']);
  const allowed = ['createTask', 'createTasks', 'getTask'].map((one) =>
    allowsOperation(rules ?? [], one),
  );
  expect(allowed).toEqual([true, false, true]);
  expect(operationRulesOf([rule('shell', '*', 'deny')])).toBeUndefined();
});

describe('rules of a request', () => {
  it('a list of rules is valid', () => {
    expect(errorInRules([rule('shell', '*', 'ask')], 'permissions')).toBeUndefined();
  });

  it.each([
    ['all', 'permissions'],
    [Array.from({ length: 101 }, () => rule('shell', '*', 'ask')), 'permissions'],
    [[rule('shell', '*', 'ask'), 'shell'], 'permissions[1]'],
    [[{ tool: 'shell', decision: 'ask' }], 'permissions[0]'],
    [[{ ...rule('shell', '*', 'ask'), until: 1 }], 'permissions[0]'],
    [[rule('', '*', 'ask')], 'permissions[0]'],
    [[rule('shell', 'x'.repeat(501), 'ask')], 'permissions[0]'],
    [[rule('shell', '*', 'maybe' as 'ask')], 'permissions[0]'],
    [[rule('drover', '*', 'ask')], 'permissions[0]'],
    [[rule('drover', 'x'.repeat(101), 'deny')], 'permissions[0]'],
    [[rule('drover', 'créer*', 'deny')], 'permissions[0]'],
    [[rule('drover', '\\\\', 'deny')], 'permissions[0]'],
    [Array.from({ length: 21 }, () => rule('drover', '*', 'deny')), 'permissions'],
  ])('%j is refused', (value, field) => {
    expect(errorInRules(value, 'permissions')?.field).toBe(field);
  });
});
