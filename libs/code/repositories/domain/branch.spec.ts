import { describe, expect, it } from '@jest/globals';
import { branchOf, isBranch, isBranchPattern } from './branch.js';

describe('branches', () => {
  it.each(['main', 'release/2.x', 'a@b', 'umläut'])('%s is a branch', (name) => {
    expect(isBranch(name)).toBe(true);
  });

  it.each(
    [
      ['', '-x', '/x', 'x/', 'x//y', 'a..b', 'a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', 'a[b'],
      ['a\\b', 'x.lock', 'x.lock/y', '.x', 'x/.y', 'x.', '@', 'a@{b', 'HEAD', 'x'.repeat(201)],
    ].flat(),
  )('%j is none', (name) => {
    expect(isBranch(name)).toBe(false);
  });

  it('a pattern names the task', () => {
    const patterns = ['{agent}/{task}', 'drover/{task}', '{agent}', '{task} x', '-{task}'];
    expect(patterns.map(isBranchPattern)).toEqual([true, true, false, false, false]);
  });

  it('a branch has the names of agent and task', () => {
    const task = '0197c0de';
    expect(branchOf('{agent}/{task}', { agent: 'codex', task })).toBe('codex/0197c0de');
    expect(branchOf('{agent}/{task}', { agent: "Ada's  box/..", task })).toBe('ada-s-box/0197c0de');
    expect(branchOf('x/{task}', { agent: '', task })).toBe('x/0197c0de');
    expect(branchOf('{agent}/{task}', { agent: '…', task })).toBe('agent/0197c0de');
  });
});
