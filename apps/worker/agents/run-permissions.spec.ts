import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { PermissionRequest } from '#lib/agent-kinds';
import type { PermissionRule } from '#lib/kernel';
import type { Question } from '../api/types.js';
import { RunPermissions } from './run-permissions.js';

let questions: Question[];
let cancelled: number;
let decisions: unknown[][];
let canAsk: boolean;
beforeEach(() => {
  [questions, cancelled, decisions, canAsk] = [[], 0, [], true];
});

function permissionsWith(rules: PermissionRule[] = [], mode: 'ask' | 'read-only' = 'ask') {
  return new RunPermissions({
    rules,
    mode,
    report: {
      ask: (question) => {
        questions.push(question);
        return canAsk
          ? Promise.resolve({ id: `question-${questions.length}` })
          : Promise.reject(new Error('too many'));
      },
      cancelQuestion: () => Promise.resolve((cancelled += 1)),
    },
    redact: (text) => text.replaceAll('hunter2', '[redacted]'),
    note: () => undefined,
    decide: (...decision) => void decisions.push(decision),
  });
}

const shell = (id: string, command: string): PermissionRequest => ({
  id,
  tool: 'Bash',
  category: 'shell',
  title: command,
  subjects: [command],
  input: { command },
});
const edit = (id: string, path: string): PermissionRequest => ({
  id,
  tool: 'Write',
  category: 'edit',
  title: path,
  subjects: [path],
  input: {},
  diffs: [{ path, diff: '@@ -0,0 +1,1 @@\n+hello\n' }],
});

/** The answer of a person. */
const by = (text: string) => ({ text, sender: 'user:ada' });

describe('a permission that a person decides', () => {
  it('the question shows the command without its secrets, and has a default', async () => {
    permissionsWith().request(shell('1', 'curl -u me:hunter2 \u001B[31mhost'));
    expect(questions).toEqual([
      {
        prompt: expect.stringMatching(/use Bash:\n\ncurl -u me:\[redacted\] \[31mhost\n\n/),
        choices: ['allow once', 'allow for this run', 'deny'],
        deadlineSeconds: 86_400,
        onDeadline: 'default',
        default: 'deny',
      },
    ]);
  });

  it('no character reorders the command', () => {
    permissionsWith().request(shell('1', 'echo \u202Eab\u2066\u061C'));
    expect(questions[0]?.prompt).toContain('echo \\u202Eab\\u2066\\u061C\n');
  });

  it('the question shows the changes of a file', () => {
    permissionsWith().request(edit('1', 'hello.txt'));
    expect(questions[0]?.prompt).toContain('hello.txt\n@@ -0,0 +1,1 @@\n+hello');
  });

  it('a long command does not exceed the limits of a question', () => {
    permissionsWith().request(shell('1', 'x'.repeat(100_000)));
    expect(questions[0]?.prompt.length).toBeLessThan(4_000);
    expect(questions[0]?.prompt).toContain('[98000 more characters]');
  });

  it.each([
    ['allow once', [['1', 'allow']]],
    ['deny', [['1', 'deny', 'A person denied this.']]],
  ])('the answer %s', async (answer, expected) => {
    const permissions = permissionsWith();
    permissions.request(shell('1', 'npm test'));
    await nextTick();
    permissions.answer('question-1', by(answer));
    permissions.request(shell('2', 'npm test'));
    expect(decisions).toEqual(expected);
    expect(questions).toHaveLength(2);
  });

  it('a deadline without an answer denies, and blames nobody', async () => {
    const permissions = permissionsWith();
    permissions.request(shell('1', 'npm test'));
    await nextTick();
    permissions.answer('question-1', { text: 'deny', sender: 'coordinator' });
    expect(decisions).toEqual([['1', 'deny', 'Nobody answered within 24 h.']]);
  });

  it('a permission for the run covers the same command, or the same files', async () => {
    const permissions = permissionsWith();
    permissions.request(shell('1', 'npm test'));
    permissions.request(edit('2', 'a.txt'));
    await nextTick();
    permissions.answer('question-1', by('allow for this run'));
    await nextTick();
    permissions.answer('question-2', by('allow for this run'));
    permissions.request(shell('3', 'npm test'));
    permissions.request(edit('4', 'a.txt'));
    permissions.request(edit('5', 'b.txt'));
    permissions.request(shell('6', 'npm publish'));
    expect(decisions.map(([id]) => id)).toEqual(['1', '2', '3', '4']);
    expect(questions).toHaveLength(3);
  });

  it('a permission for the run changes no rule', async () => {
    const permissions = permissionsWith([
      { tool: 'Write', pattern: '.github/*', decision: 'deny' },
      { tool: 'edit', pattern: 'docs/*', decision: 'ask' },
    ]);
    permissions.request(edit('1', 'docs/a.md'));
    await nextTick();
    permissions.answer('question-1', by('allow for this run'));
    permissions.request(edit('2', '.github/workflow.yml'));
    permissions.request(edit('3', 'docs/a.md'));
    expect(decisions.map(([, decision]) => decision)).toEqual(['allow', 'deny', 'allow']);
  });

  it('one question is asked at a time', async () => {
    const permissions = permissionsWith();
    permissions.request(shell('1', 'a'));
    permissions.request(shell('2', 'b'));
    await nextTick();
    expect(questions).toHaveLength(1);
    permissions.answer('question-1', by('deny'));
    expect(questions).toHaveLength(2);
  });

  it('an answer can be faster than the answer to the question', async () => {
    const permissions = permissionsWith();
    permissions.request(shell('1', 'a'));
    permissions.answer('question-1', by('allow once'));
    await nextTick();
    expect(decisions).toEqual([['1', 'allow']]);
  });

  it('a closed permission cancels its question, and the next one is asked after it', async () => {
    const permissions = permissionsWith();
    permissions.request(shell('1', 'a'));
    permissions.request(shell('2', 'b'));
    permissions.request(shell('3', 'c'));
    permissions.close('2');
    permissions.close('1');
    expect(questions).toHaveLength(1);
    await nextTick();
    expect([cancelled, questions.length, decisions]).toEqual([1, 2, []]);
  });

  it('at most 20 permissions wait, and the others are denied', () => {
    const permissions = permissionsWith();
    for (let id = 0; id <= 21; id += 1) permissions.request(shell(`${id}`, `make ${id}`));
    const why = 'At most 20 permissions can wait for people.';
    expect(decisions).toEqual([['21', 'deny', why]]);
    permissions.close('5');
    permissions.request(shell('22', 'make'));
    expect(decisions).toHaveLength(1);
  });

  it('a waiting permission keeps nothing of its input', async () => {
    const permissions = permissionsWith();
    const read = jest.fn(() => 'main.ts');
    const request = { ...edit('2', 'a.txt'), diffs: [], input: { toJSON: read } };
    permissions.request(shell('1', 'npm test'));
    permissions.request(request);
    expect(read).toHaveBeenCalledTimes(1);
    await nextTick();
    permissions.answer('question-1', by('deny'));
    expect(read).toHaveBeenCalledTimes(1);
    expect(questions[1]?.prompt).toContain('"main.ts"');
  });

  it('a question that the server refuses denies the permission', async () => {
    canAsk = false;
    permissionsWith().request(shell('1', 'a'));
    await nextTick();
    expect(decisions).toEqual([['1', 'deny', 'Nobody can be asked: too many']]);
  });
});

describe('a permission that the rules decide', () => {
  const rules: PermissionRule[] = [
    { tool: 'shell', pattern: 'git push*', decision: 'deny' },
    { tool: 'shell', pattern: 'npm *', decision: 'allow' },
  ];

  it('nobody is asked', () => {
    const permissions = permissionsWith(rules);
    permissions.request(shell('1', 'npm test'));
    permissions.request(shell('2', 'git push'));
    expect(decisions).toEqual([
      ['1', 'allow'],
      ['2', 'deny', 'The rules of this task do not allow this.'],
    ]);
    expect(questions).toEqual([]);
  });

  it('the mode decides about the rest', () => {
    permissionsWith(rules, 'read-only').request(shell('1', 'make'));
    expect(decisions).toMatchObject([['1', 'deny', expect.anything()]]);
  });
});
