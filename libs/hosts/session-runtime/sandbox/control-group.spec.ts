import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseGroup, type GroupFacts, removeGroup } from './control-group.js';
import { sandboxLaunch } from './sandbox.js';

const BOTH = ['cpu', 'memory', 'pids'];
const group = (more: Partial<GroupFacts>): GroupFacts => ({
  path: '/above',
  controllers: BOTH,
  handedOn: [],
  inUse: false,
  writable: true,
  ...more,
});
const own = group({ path: '/above/own', inUse: true });

describe("The parent of the sessions' groups", () => {
  test.each<[string, GroupFacts[], object]>([
    [
      'in a group with enabled controllers',
      [group({ handedOn: BOTH, inUse: true })],
      { kind: 'ready' },
    ],
    ['in a delegated group without processes', [group({}), own], { kind: 'free', path: '/above' }],
    [
      'preferably in a group with enabled controllers',
      [group({}), { ...own, handedOn: BOTH }],
      { kind: 'ready', path: '/above/own' },
    ],
    ['nowhere without version 2', [], { reason: expect.stringContaining('limits memory') }],
    [
      'nowhere without controllers',
      [group({ controllers: ['cpu', 'pids'] })],
      { reason: expect.stringContaining('limits memory') },
    ],
    [
      'nowhere without rights',
      [group({ handedOn: BOTH, writable: false })],
      { reason: expect.stringContaining('no control group is this user’s') },
    ],
    [
      'nowhere if processes are in the group',
      [group({ writable: false }), own],
      { reason: expect.stringContaining('processes are in the control group') },
    ],
    [
      'nowhere if only memory is enabled',
      [group({ handedOn: ['memory'], inUse: true })],
      { kind: 'none' },
    ],
  ])('the groups of sessions are created %s', (_, candidates, choice) => {
    expect(chooseGroup(candidates)).toMatchObject(choice);
  });
});

describe("A session's limits", () => {
  const inner = join(import.meta.dirname, 'sandbox.ts');
  let groups: string;

  beforeEach(() => {
    groups = mkdtempSync(join(tmpdir(), 'drover-groups-'));
  });
  afterEach(() => rmSync(groups, { recursive: true, force: true }));

  /** The limits of a process after it joined the group: `program` is a shell, no sandbox. */
  function limitsIn(parent: string | undefined): string {
    const {
      file,
      args,
      group: made,
    } = sandboxLaunch(
      {
        program: { file: '/bin/sh', env: {} },
        hidden: [],
        shown: [],
        network: 'on',
        inner,
        memoryMb: 512,
        processes: 3_000,
        groups: parent,
      },
      {
        dir: '/d',
        root: '/d/id',
        launch: '/d/id/l',
        tmp: '/d/id/t',
        searchPath: '',
      },
    );
    expect(made).toBe(parent && join(parent, 'drover-id'));
    const [dashC = '', script = ''] = args;
    const command = ['sh', made ?? '', 'sh', '-c', 'echo $$; cat /proc/self/limits'];
    return execFileSync(file, [dashC, script, ...command], { encoding: 'utf8' });
  }

  test('a session is limited by its own control group', () => {
    const said = limitsIn(groups);
    const read = (name: string) => readFileSync(join(groups, 'drover-id', name), 'utf8').trim();
    expect(read('memory.max')).toBe('536870912');
    expect(read('memory.swap.max')).toBe('0');
    expect(read('pids.max')).toBe('3000');
    expect(said.split('\n')[0]).toBe(read('cgroup.procs'));
    expect(said).not.toMatch(/^Max data size +536870912/m);
  });

  test.each([
    ['without a group', undefined],
    ['if no group can be created', '/proc/none'],
  ])('the processes of a session are limited %s', (_, parent) => {
    const said = limitsIn(parent);
    expect(said).toMatch(/^Max data size +536870912 /m);
    expect(said).toMatch(/^Max processes +3000 /m);
  });

  test('a removed group is gone, and an absent one is no error', () => {
    removeGroup(mkdtempSync(join(groups, 'drover-')));
    removeGroup(join(groups, 'none'));
    expect(readdirSync(groups)).toEqual([]);
  });
});
