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

describe('The groups of sessions are made', () => {
  test.each<[string, GroupFacts[], object]>([
    ['in one that hands on', [group({ handedOn: BOTH, inUse: true })], { kind: 'ready' }],
    ['in one that is given and free', [group({}), own], { kind: 'free', path: '/above' }],
    [
      'rather in one that hands on',
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
      'nowhere where processes are in the way',
      [group({ writable: false }), own],
      { reason: expect.stringContaining('processes are in the control group') },
    ],
    [
      'nowhere where a part is handed on only',
      [group({ handedOn: ['memory'], inUse: true })],
      { kind: 'none' },
    ],
  ])('%s', (_, candidates, choice) => {
    expect(chooseGroup(candidates)).toMatchObject(choice);
  });
});

describe('A session', () => {
  const inner = join(import.meta.dirname, 'sandbox.ts');
  let groups: string;

  beforeEach(() => {
    groups = mkdtempSync(join(tmpdir(), 'drover-groups-'));
  });
  afterEach(() => rmSync(groups, { recursive: true, force: true }));

  /** What the limits of its processes are once it was put into its group: `program` is no sandbox. */
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

  test('is limited by a group of its own', () => {
    const said = limitsIn(groups);
    const read = (name: string) => readFileSync(join(groups, 'drover-id', name), 'utf8').trim();
    expect(read('memory.max')).toBe('536870912');
    expect(read('memory.swap.max')).toBe('0');
    expect(read('pids.max')).toBe('3000');
    expect(said.split('\n')[0]).toBe(read('cgroup.procs'));
    expect(said).not.toMatch(/^Max data size +536870912/m);
  });

  test.each([
    ['without one', undefined],
    ['where none can be made', '/proc/none'],
  ])('is limited by its processes %s', (_, parent) => {
    const said = limitsIn(parent);
    expect(said).toMatch(/^Max data size +536870912 /m);
    expect(said).toMatch(/^Max processes +3000 /m);
  });

  test('leaves no group behind, and no error where there is none', () => {
    removeGroup(mkdtempSync(join(groups, 'drover-')));
    removeGroup(join(groups, 'none'));
    expect(readdirSync(groups)).toEqual([]);
  });
});
