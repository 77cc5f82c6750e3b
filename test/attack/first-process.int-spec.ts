import { describe, expect, test } from '@jest/globals';
import { ATTACKERS, outputOf } from './attackers.js';
import { NUMBERS } from './system-calls.js';

const { pidfd_getfd: takeDescriptor, pidfd_open: openProcess, process_vm_readv: read } = NUMBERS;
const ATTACH = 16;
const CHANNEL = 3;

/**
 * Each command speaks only if it succeeds. The parent of the session's shell is the first process.
 */
const READING = ['environ', 'mem', 'maps', 'auxv', 'stack', 'syscall'].map(
  (name) => `timeout 1 head -c 1 /proc/$PPID/${name} > /dev/null && echo read ${name}`,
);

(process.arch === 'x64' ? describe : describe.skip).each(ATTACKERS)(
  'A session of $name',
  (attacker) => {
    test('reads neither memory nor descriptors of the first process', async () => {
      const script = `
      for file in /proc/$PPID/fd/* /proc/$PPID/fd/${CHANNEL} /proc/$PPID/task/*/fd/${CHANNEL}; do
        readlink $file && echo link; timeout 1 sh -c ": < $file" && echo open
      done; ${READING.join('; ')}; readlink /proc/$PPID/exe /proc/$PPID/root && echo exe`;
      expect(await outputOf(attacker, `{ ${script}; } 2>/dev/null; echo end`)).toBe('end');
    });

    test('traces the first process by no call, and its own children', async () => {
      const script = `
      export FIRST=$PPID
      perl -e '
        my $p = $ENV{FIRST} + 0;
        sub show { print $_[0], "=", ($_[1] == -1 ? $!+0 : 0), "\\n" }
        show("attach", syscall(${NUMBERS.ptrace}, ${ATTACH}, $p, 0, 0));
        my $buffer = "\\0" x 8; my $local = pack("PQ", $buffer, 8); my $remote = pack("QQ", 0x400000, 8);
        show("read", syscall(${read}, $p, $local, 1, $remote, 1, 0));
        my $fd = syscall(${openProcess}, $p, 0);
        show("take", syscall(${takeDescriptor}, $fd, ${CHANNEL}, 0));
        my $child = fork; if ($child == 0) { sleep 100 }
        show("attach child", syscall(${NUMBERS.ptrace}, ${ATTACH}, $child, 0, 0));
        kill 9, $child;'`;
      const output = await outputOf(attacker, script);
      expect(output.split('\n')).toEqual(['attach=1', 'read=1', 'take=1', 'attach child=0']);
    });

    test('sees no descriptor of a process that its user did not start', async () => {
      const script = `
      for process in /proc/[0-9]*; do
        [ "$(stat -c %u $process)" = "$(id -u)" ] || ls $process/fd/ 2>/dev/null
      done; true`;
      expect(await outputOf(attacker, script)).toBe('');
    });
  },
);
