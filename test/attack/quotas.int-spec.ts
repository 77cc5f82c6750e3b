import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { classOfExit, newId } from '#lib/kernel';
import { findQuotas, type FolderQuotas, type SessionExit } from '#lib/session-runtime';
import { ProcessDriver } from '../../libs/hosts/session-runtime/process/process-driver.js';
import { wasRefusedSpace } from '../../libs/hosts/session-runtime/process/exit-facts.js';
import { testSandbox } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { mountBtrfs } from './btrfs.js';

const LIMITS = { memoryMb: 192, processes: 64, diskMb: 4, openFiles: 80 };
const MIB = 1_048_576;

const sandbox = await testSandbox();
const mounted = sandbox === undefined ? 'there is no sandbox' : await mountBtrfs();
if (typeof mounted === 'string') process.stderr.write(`SKIPPED: quotas, since ${mounted}\n`);

/** Each takes up 12 MiB in its own way, and goes on when it cannot. */
const FILLERS = {
  'a large file': 'dd if=/dev/zero of=fill bs=1M count=12',
  'the temporary folder': 'dd if=/dev/zero of=/tmp/fill bs=1M count=12',
  'a deleted file that is open': 'exec 3>fill; rm fill; dd if=/dev/zero bs=1M count=12 >&3',
  'a file in a closed folder': 'mkdir d; dd if=/dev/zero of=d/fill bs=1M count=12 && chmod 0 d',
  'reserved space': 'fallocate -l 12M fill',
  'files whose refusal a program keeps to itself': 'dd if=/dev/zero of=fill bs=1M count=12 2>&-',
  'files of Node': `node -e 'fs.writeFileSync("fill", Buffer.alloc(12e6))' 2>&-`,
  'many small files': `perl -e 'for (1..3000) { open F, ">", $_ and print F "x" x 4096 or die "$!" }'`,
};

/** The orders to the file system that make a subvolume or a snapshot, with the offset of the name. */
const NEW_SUBVOLUMES = [
  [0x5000_940e, 8],
  [0x5000_9418, 56],
  [0x5000_9401, 8],
  [0x5000_9417, 56],
];

const fileSystems = typeof mounted === 'string' ? [] : [mounted];
const ways = fileSystems.flatMap((on) => ['an account', 'root'].map((user) => ({ user, on })));

if (ways.length === 0) test.skip('quotas need a file system that only root can mount', () => {});
else {
  describe.each(ways)('A session of $user on btrfs', ({ user, on: { path, bin, btrfs } }) => {
    const dir = join(path, `${user.replace(' ', '-')}/sessions`);
    let quotas: FolderQuotas;
    let driver: ProcessDriver;
    const warnings: string[] = [];

    beforeAll(async () => {
      expect(await findQuotas(dir, bin)).toHaveProperty('reason');
      btrfs('quota', 'enable', path);
      quotas = ((await findQuotas(dir, bin)) as { quotas: FolderQuotas }).quotas;
      const account = { uid: 54_500, gid: 54_500 };
      for (const each of [path, join(dir, '..'), dir]) chmodSync(each, 0o711);
      driver = new ProcessDriver({
        dir,
        warn: (message) => warnings.push(message),
        searchPath: process.env['PATH'] ?? '',
        accounts: user === 'root' ? undefined : () => account,
        sandbox: { ...sandbox!, limits: LIMITS, maxLimits: LIMITS, quotas },
      });
    });
    afterEach(async () => {
      for (const id of await driver.list()) await driver.remove(id);
    });
    afterAll(() => {
      btrfs('quota', 'disable', path);
    });

    const run = async (script: string): Promise<SessionExit & { id: string }> => {
      const id = newId();
      const command: [string, ...string[]] = ['sh', '-c', script];
      const session = await driver.spawn({ id, command, env: {}, files: {}, secrets: [] });
      return { ...(await session.exit), id };
    };
    /** Counts the extents, as the kernel does, and deleted files that are open. */
    const usedMiB = (id: string): number => {
      btrfs('filesystem', 'sync', path);
      const fields = btrfs('qgroup', 'show', '--raw', '-f', join(dir, id))
        .trim()
        .split('\n')
        .at(-1);
      return Number(fields?.trim().split(/\s+/)[1]) / MIB;
    };

    test.each(Object.entries(FILLERS))(
      'that fills its folder by %s is refused it',
      async (...row) => {
        const [, script] = row;
        const exit = await run(`{ ${script}; } && echo not refused; exit 1`);
        expect(exit.output).not.toContain('not refused');
        expect(usedMiB(exit.id)).toBeLessThanOrEqual(LIMITS.diskMb);
        expect(classOf(exit)).toBe('disk');
      },
    );

    test('makes no subvolume and no snapshot, which its limit would not cover', async () => {
      const orders = NEW_SUBVOLUMES.map(
        ([order, offset], index) =>
          `my $a = pack("q", fileno(D)); $a .= "\\0" x (${offset} - 8) . "new${index}"; $a .= "\\0" x (4096 - length $a);
           print ioctl(D, ${order}, $a) ? "made\\n" : $!+0 . "\\n";`,
      );
      const scripts = orders.map((order) => `{ ${order} }`).join('\n');
      const { output, id } = await run(
        `cat > try.pl <<'END'\nopendir H, ".."; open D, "<", ".." or die $!; ${scripts}\nEND\nperl try.pl`,
      );
      expect(output.trim().split('\n')).toEqual(['1', '1', '1', '1']);
      expect(readdirSync(join(dir, id)).filter((name) => name.startsWith('new'))).toEqual([]);
    });

    test('that frees space can go on', async () => {
      const exit = await run(
        'dd if=/dev/zero of=a bs=1M count=12; rm a; dd if=/dev/zero of=b bs=1M count=2',
      );
      expect(exit.exitCode).toBe(0);
    });

    test('leaves neither a folder nor a quota group after a removal', async () => {
      const { id } = await run('mkdir -p a/b; dd if=/dev/zero of=a/b/fill bs=1M count=12');
      expect(usedMiB(id)).toBeGreaterThan(LIMITS.diskMb / 2);
      await driver.remove(id);
      expect(existsSync(join(dir, id))).toBe(false);
      btrfs('subvolume', 'sync', path);
      btrfs('filesystem', 'sync', path);
      expect(btrfs('qgroup', 'show', path)).not.toMatch(/^0\/(?!5\s)/m);
    });

    test('is measured if quotas were disabled meanwhile', async () => {
      btrfs('quota', 'disable', path);
      const exit = await run('dd if=/dev/zero of=fill bs=1M count=12; sleep 30');
      expect([classOf(exit), exit.exceeded?.mb]).toEqual(['disk', LIMITS.diskMb]);
      expect(warnings.at(-1)).toMatch(/^The folder of a session has no quota and is measured/);
    });
  });
}

afterAll(() => fileSystems.forEach(({ remove }) => remove()));

function classOf(exit: SessionExit): string {
  const quotaIsFull = wasRefusedSpace(exit, exit.output);
  return classOfExit({ ...exit, heapIsFull: false, quotaIsFull, asked: false });
}
