import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countsBySandbox, limitingScript } from './apply-limits.js';
import {
  chooseGroup,
  type ControlGroups,
  findGroups,
  type GroupFacts,
  groupsOf,
  joinGroups,
  makeGroups,
  removeGroups,
} from './control-group.js';

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

describe('The groups of a session', () => {
  let parent: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), "drover groups' "));
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  /** The limits of a process that has run the limiting script: \`program\` is no sandbox. */
  function limitsIn(groups: ControlGroups | undefined): string {
    const limits = { memoryMb: 512, processes: 3_000, diskMb: 0, openFiles: 300 };
    const own = groups && groupsOf(groups, 'id');
    if (own !== undefined) makeGroups(own, limits);
    const script = limitingScript(limits, own);
    const command = ['-c', script, 'sh', 'sh', '-c', 'echo $$; cat /proc/self/limits'];
    return execFileSync('/bin/sh', command, { encoding: 'utf8' });
  }

  const read = (name: string) => readFileSync(join(parent, name), 'utf8').trim();

  test('of version 2 limit memory and processes', () => {
    const said = limitsIn({ version: 2, memory: parent, pids: parent });
    expect(read('drover-id/memory.max')).toBe('536870912');
    expect(read('drover-id/memory.swap.max')).toBe('0');
    expect(read('drover-id/pids.max')).toBe('3000');
    expect(said.split('\n')[0]).toBe(read('drover-id/cgroup.procs'));
    expect(said).not.toMatch(/^Max data size +\d/m);
    expect(said).toMatch(/^Max open files +300 +300 /m);
  });

  test('of version 1 limit memory and processes in two trees', () => {
    const [memory, pids, cpu] = ['memory', 'pids', 'cpu'].map((name) => join(parent, name));
    for (const path of [memory, pids, cpu]) mkdirSync(path!);
    const said = limitsIn({ version: 1, memory: memory!, pids: pids!, cpu });
    expect(read('memory/drover-id/memory.limit_in_bytes')).toBe('536870912');
    expect(read('memory/drover-id/memory.memsw.limit_in_bytes')).toBe('536870912');
    expect(read('pids/drover-id/pids.max')).toBe('3000');
    for (const tree of ['memory', 'pids', 'cpu']) {
      expect(said.split('\n')[0]).toBe(read(`${tree}/drover-id/cgroup.procs`));
    }
  });

  test.each([
    ['are absent', undefined],
    ['cannot be created', { version: 2, memory: '/proc/none', pids: '/proc/none' } as const],
  ])('%s: the data of each process is limited, and it yields to others', (_, groups) => {
    const said = limitsIn(groups);
    expect(said).toMatch(/^Max data size +1207959552 /m);
    expect(said).toMatch(/^Max open files +300 +300 /m);
  });

  test('are removed without an error, also where there are none', async () => {
    const groups = { version: 1 as const, memory: join(parent, 'a'), pids: join(parent, 'none') };
    mkdirSync(groups.memory);
    await removeGroups(groups);
    expect(readdirSync(parent)).toEqual([]);
  });
});

const found = findGroups();
const withGroups = 'groups' in found ? test : test.skip;

withGroups('a group is removed when its last process has ended', async () => {
  const groups = groupsOf((found as { groups: ControlGroups }).groups, randomUUID());
  makeGroups(groups, { memoryMb: 0, processes: 0 });
  const script = [...joinGroups(groups), 'echo joined', 'exec sleep 60'].join('; ');
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const removing = removeGroups(groups);
  expect(existsSync(groups.memory)).toBe(true);
  child.kill('SIGKILL');
  await removing;
  expect(existsSync(groups.memory)).toBe(false);
});

test('kernels from 5.14 on count the processes of each sandbox', () => {
  const versions = ['4.18.0-553.el8', '5.10.0-28-amd64', '5.14.0-427.el9', '6.1.0', '6.18.44-fc'];
  expect(versions.filter(countsBySandbox)).toEqual(versions.slice(2));
});
