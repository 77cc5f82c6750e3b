import { afterAll, describe, expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { classOfExit, newId } from '#lib/kernel';
import { countsBySandbox, findGroups, type SessionExit } from '#lib/session-runtime';
import type { SessionSpec } from '../../libs/hosts/session-runtime/drivers/driver.js';
import { ProcessDriver } from '../../libs/hosts/session-runtime/process/process-driver.js';
import { ON_DISK, testSandbox } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { ATTACKERS, attack } from './attackers.js';

const LIMITS = { memoryMb: 192, processes: 64, diskMb: 4, openFiles: 80 };

const sandbox = await testSandbox();
const found = findGroups();
const isRoot = process.getuid?.() === 0;

interface Way {
  name: string;
  groups: boolean;
  /** Whether sessions run as accounts of their workspaces. */
  accounts: boolean;
}

const ways: Way[] = [true, false].flatMap((groups) =>
  [true, false].map((accounts) => {
    const user = accounts ? 'an account of its workspace' : isRoot ? 'root' : 'an ordinary user';
    return { name: `${user}, ${groups ? 'with' : 'without'} control groups`, groups, accounts };
  }),
);

/** @returns undefined if this machine can do it */
function whySkipped({ groups, accounts }: Way): string | undefined {
  if (sandbox === undefined) return 'there is no sandbox';
  if (groups && 'reason' in found) return found.reason;
  return accounts && !isRoot ? 'only root can run sessions as other users' : undefined;
}

function isPossible(way: Way): boolean {
  const why = whySkipped(way);
  if (why !== undefined) process.stderr.write(`SKIPPED: limits as ${way.name}, since ${why}\n`);
  return why === undefined;
}

const possible = ways.filter(isPossible);

describe.each(possible)('A session of $name', ({ groups, accounts }) => {
  const dir = mkdtempSync(join(ON_DISK, 'drover-limits-'));
  chmodSync(dir, 0o711);
  const workspaces: [string, string] = [newId(), newId()];
  const userOf = (workspaceId: string | undefined) => {
    const uid = 54_300 + workspaces.indexOf(workspaceId ?? '');
    return { uid, gid: uid };
  };
  const driver = new ProcessDriver({
    dir: join(dir, 'sessions'),
    searchPath: process.env['PATH'] ?? '',
    accounts: accounts ? userOf : undefined,
    sandbox: sandbox && {
      ...sandbox,
      limits: LIMITS,
      maxLimits: LIMITS,
      groups: groups && 'groups' in found ? found.groups : undefined,
    },
  });

  afterAll(async () => {
    for (const id of await driver.list()) await driver.remove(id);
    rmSync(dir, { recursive: true, force: true });
  });

  const start = (command: SessionSpec['command'], more: Partial<SessionSpec> = {}) =>
    driver.spawn({
      id: newId(),
      workspaceId: workspaces[0],
      command,
      env: {},
      files: {},
      secrets: [],
      ...more,
    });
  const sh = (script: string, more?: Partial<SessionSpec>) => start(['sh', '-c', script], more);
  const perl = (script: string, more?: Partial<SessionSpec>) => start(['perl', '-e', script], more);
  const endOf = async (session: ReturnType<typeof start>): Promise<SessionExit> =>
    (await session).exit;

  /** Whether it continues while others misbehave. */
  const withNeighbour = async <T>(work: () => Promise<T>): Promise<T> => {
    const other = { workspaceId: workspaces[1] };
    const neighbour = await perl(FORK(30) + 'sleep 2; print "neighbour: $n"', other);
    const result = await work();
    expect((await neighbour.exit).output).toContain('neighbour: 30');
    return result;
  };

  const countsProcesses = groups || ((accounts || !isRoot) && countsBySandbox());

  (countsProcesses ? test : test.skip)(
    'that forks for ever has no more processes than its limit, and refuses others none',
    async () => {
      // Before its neighbour starts it has all that it gets.
      const bomb = await perl(`${FORK(1_000)} print "bomb: $n\n"; sleep 4`);
      await withNeighbour(async () => {
        const [, count] = /bomb: (\d+)/.exec((await bomb.exit).output) ?? [];
        expect(Number(count)).toBeGreaterThan(20);
        expect(Number(count)).toBeLessThan(LIMITS.processes);
      });
    },
  );

  test('that takes too much memory ends as out of memory, and only that session', async () => {
    const exit = await withNeighbour(() => endOf(perl(HOG)));
    expect(classOf(exit)).toBe('oom');
  });

  test('that exceeds the disk limit in any way ends with the class disk', async () => {
    const ends = await Promise.all(
      Object.entries(FILLERS).map(async ([name, script]) => {
        const exit = await endOf(sh(`${script}; sleep 30`));
        return [name, [classOf(exit), exit.exceeded?.mb]];
      }),
    );
    const expected = Object.keys(FILLERS).map((name) => [name, ['disk', LIMITS.diskMb]]);
    expect(Object.fromEntries(ends)).toEqual(Object.fromEntries(expected));
  });

  test('with a large sparse file and many names of one file stays below the disk limit', async () => {
    const script = `truncate -s 1G sparse; dd if=/dev/zero of=file bs=1M count=2
      for i in 1 2 3 4 5; do ln file $i; done; ln -s /usr usr; sleep 3`;
    expect(await endOf(sh(script))).toMatchObject({ exitCode: 0 });
  });

  test('has no more open files than its limit', async () => {
    const script =
      'while (1) { open(my $f, "<", "/dev/null") or last; push @f, $f } print "open: ", 0 + @f';
    const [, count] = /open: (\d+)/.exec((await endOf(perl(script))).output) ?? [];
    expect(Number(count)).toBeGreaterThan(60);
    expect(Number(count)).toBeLessThanOrEqual(LIMITS.openFiles);
  });

  test('can fill no memory file system of the sandbox', async () => {
    // Another mount covers those of a host whose home is in /tmp.
    const script = `for d in $(grep ' tmpfs ' /proc/mounts | cut -d' ' -f2 | sort -u); do
      [ "$(stat -f -c %T "$d" 2>/dev/null)" = tmpfs ] || continue
      dd if=/dev/zero of="$d/fill" bs=1M count=64 2>/dev/null
      stat -c "%s $d" "$d/fill" 2>/dev/null; done`;
    expect((await endOf(sh(script))).output.trim()).toBe(
      `${(LIMITS.memoryMb / 4) * 1_048_576} /dev/shm`,
    );
  });
});

const ordinary = ATTACKERS.find(({ name }) => name === 'an ordinary user');

(ordinary === undefined ? test.skip : test)(
  'the sessions of a host that is an ordinary user have their own limits',
  async () => {
    const fillers = Object.values(FILLERS).map((script) => `${script}; sleep 30`);
    const perls = [HOG, `${FORK(1_000)} print "bomb: $n"; sleep 3`, `${FORK(30)} print "own: $n"`];
    const scripts = [...fillers, ...perls.map((script) => `exec perl -e '${script}'`)];
    const settings = { limits: LIMITS, maxLimits: LIMITS };
    const ends = await attack(ordinary!, scripts, { settings });
    const classes = ends.map((end) => (end.exitCode === 0 ? 'well' : classOf(end)));
    expect(classes).toEqual([...fillers.map(() => 'disk'), 'oom', 'well', 'well']);
    const [bomb, other] = ends.slice(-2).map(({ output }) => output);
    expect(Number(/bomb: (\d+)/.exec(bomb ?? '')?.[1])).toBeLessThan(LIMITS.processes);
    expect(other).toContain('own: 30');
  },
);

/** Each takes up 6 MiB in its own way. */
const FILLERS = {
  'a large file': 'dd if=/dev/zero of=fill bs=1M count=6',
  'the temporary folder': 'dd if=/dev/zero of=/tmp/fill bs=1M count=6',
  'a deleted file that is open': 'exec 3>fill; rm fill; dd if=/dev/zero bs=1M count=6 >&3',
  'a file in a closed folder': 'mkdir d; dd if=/dev/zero of=d/fill bs=1M count=6; chmod 0 d',
  'empty files': 'seq 1500 | xargs touch',
  'nested folders': `perl -e 'for (1..1500) { mkdir "d" or die; chdir "d" or die }'`,
};

/** Forks until it cannot, at most so often. */
function FORK(most: number): string {
  return `for (1..${most}) { my $p = fork(); last if !defined $p; if (!$p) { sleep 5; exit } $n++ } `;
}

const HOG = 'while (1) { push @a, "x" x 8_000_000; select undef, undef, undef, 0.04 }';

function classOf(exit: SessionExit): string {
  return classOfExit({ ...exit, heapIsFull: false, quotaIsFull: false, asked: false });
}
