import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attack, ATTACKERS, outputOf } from './attackers.js';
import { callScript, NUMBERS } from './system-calls.js';

const NEW_USER = 0x1000_0000;
const EPERM = 1;
const ENOSYS = 38;
const { clone, clone3, setns, unshare } = NUMBERS;

/**
 * A 32-bit program that prints "called": `write` and `exit` by the table of such programs (int
 * 0x80).
 */
const OLD_PROGRAM = Buffer.from(
  'f0VMRgEBAQAAAAAAAAAAAAIAAwABAAAAVIAECDQAAAAAAAAAAAAAADQAIAABAAAAAAAAAAEAAAAAAAAAAIAECACABAh5AAAAeQAA' +
    'AAUAAAAAEAAAuAQAAAC7AQAAALlzgAQIugYAAADNgLgBAAAAMdvNgGNhbGxlZA==',
  'base64',
);

(process.arch === 'x64' ? describe : describe.skip).each(ATTACKERS)(
  'A session of $name',
  (attacker) => {
    test('makes and enters no namespace', async () => {
      const calls: [string, number, ...number[]][] = [
        ['unshare', unshare, NEW_USER],
        ['unshare mounts', unshare, 0x2_0000],
        ['clone', clone, NEW_USER + 17, 0],
        ['setns', setns, 0, 0],
      ];
      const scripts = calls.map(([name, ...call]) => callScript(name, ...call));
      scripts.push(callScript('clone3', clone3, 0, 0));
      const output = await outputOf(attacker, `${scripts.join('\n')}; unshare -Ur id -u`);
      const refused = calls.map(([name]) => `${name}=${EPERM}`);
      expect(output.split('\n').slice(0, 5)).toEqual([...refused, `clone3=${ENOSYS}`]);
      expect(output).toMatch(/unshare failed: Operation not permitted$/);
    });

    test('mounts nothing and takes no mount away', async () => {
      const attempts: [string, number, ...(number | string)[]][] = [
        ['mount', NUMBERS.mount, 'none', '/tmp', 'tmpfs', 0, 0],
        ['umount', NUMBERS.umount2, '/proc/sys', 2],
        ['pivot_root', NUMBERS.pivot_root, '/', '/'],
        ['fsopen', NUMBERS.fsopen, 'tmpfs', 0],
        // Without the filter, the lack of capabilities would not refuse these: they succeed, or
        // fail by their wrong arguments.
        ['mount of a wrong address', NUMBERS.mount, 1, 1, 1, 0, 0],
        ['umount with a wrong flag', NUMBERS.umount2, '/', 0x1000],
        ['open_tree', NUMBERS.open_tree, -100, '/', 0],
        ['open_tree_attr', NUMBERS.open_tree_attr, -100, '/', 0, 0, 0],
        ['fsconfig', NUMBERS.fsconfig, -1, 0, 0, 0, 0],
        ['mount_setattr', NUMBERS.mount_setattr, -100, '/', 0x1_0000, 0, 0],
      ];
      const scripts = attempts.map(([name, ...call]) => callScript(name, ...call));
      const output = await outputOf(attacker, scripts.join('\n'));
      expect(output.split('\n')).toEqual(attempts.map(([name]) => `${name}=${EPERM}`));
    });

    test('reaches no rarely needed part of the kernel', async () => {
      const { bpf, userfaultfd, io_uring_setup: ioUring, ioctl } = NUMBERS;
      const scripts = [
        callScript('bpf', bpf, 0, 0, 0),
        callScript('userfaultfd', userfaultfd, 1),
        callScript('io_uring', ioUring, 1, 0),
        callScript('TIOCSTI', ioctl, 0, 0x5412, 'x'),
        callScript('TIOCSTI with high bits', ioctl, 0, 0x1_0000_5412, 'x'),
      ];
      const output = await outputOf(attacker, scripts.join('\n'));
      const names = ['bpf', 'userfaultfd', 'io_uring', 'TIOCSTI', 'TIOCSTI with high bits'];
      expect(output.split('\n')).toEqual(names.map((name) => `${name}=${EPERM}`));
    });

    test('runs threads and child processes all the same', async () => {
      const script = `perl -e 'if (my $c = fork) { waitpid $c, 0; print $?>>8 } else { exit 7 }'; sleep 0 & wait; echo ok`;
      expect(await outputOf(attacker, script)).toBe('7ok');
    });

    test('calls the kernel by no other table', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'drover-old-program-'));
      try {
        const file = join(folder, 'program');
        writeFileSync(file, OLD_PROGRAM, { mode: 0o755 });
        if (!runs(file))
          return process.stderr.write('Skipped: no 32-bit programs on this machine\n');
        const copy = `echo ${OLD_PROGRAM.toString('base64')} | base64 -d > x && chmod +x x && ./x`;
        const [end] = await attack(attacker, [copy]);
        expect(end?.output).not.toContain('called');
        expect(end?.exitCode).not.toBe(0);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  },
);

function runs(file: string): boolean {
  try {
    return execFileSync(file, { encoding: 'utf8' }) === 'called';
  } catch {
    return false;
  }
}
