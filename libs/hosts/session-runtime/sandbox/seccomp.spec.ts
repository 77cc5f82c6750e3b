import { expect, test } from '@jest/globals';
import { BPF, encodeFilter, type Processor, sandboxFilter } from './seccomp.js';

const ALLOWED = 'allowed';
const MARKS = { x64: 0xc000_003e, arm64: 0xc000_00b7, i386: 0x4000_0003, arm: 0x4000_0028 };
const HIGH_BITS = 0xdead_0000_0000;

interface Call {
  number: number;
  mark: number;
  args?: number[];
}

/** Runs the encoded filter as the kernel does. @returns the error number of a refusal */
function run(processor: Processor, { number, mark, args = [] }: Call): number | typeof ALLOWED {
  const program = encodeFilter(sandboxFilter(processor));
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(mark, 4);
  args.forEach((value, index) => data.writeBigUInt64LE(BigInt(value), 16 + 8 * index));
  let accumulator = 0;
  for (let at = 0; ; at += 1) {
    const [code, jt, jf] = [0, 2, 3].map((offset) => program.readUInt8(8 * at + offset));
    const k = program.readUInt32LE(8 * at + 4);
    if (code === BPF.return) return k === 0x7fff_0000 ? ALLOWED : k - 0x0005_0000;
    if (code === BPF.load) accumulator = data.readUInt32LE(k);
    else at += (holds(code, accumulator, k) ? jt : jf) ?? 0;
  }
}

function holds(code: number | undefined, accumulator: number, k: number): boolean {
  if (code === BPF.equal) return accumulator === k;
  if (code === BPF.atLeast) return accumulator >= k;
  if (code === BPF.anyBit) return (accumulator & k) !== 0;
  throw new Error(`unknown code ${code}`);
}

/** Numbers of asm/unistd_64.h and asm-generic/unistd.h, written here a second time. */
const CALLS: [string, number, number, number | typeof ALLOWED, number[]?][] = [
  ['read', 0, 63, ALLOWED],
  ['execve', 59, 221, ALLOWED],
  ['ptrace', 101, 117, ALLOWED],
  ['setuid', 105, 146, ALLOWED],
  ['seccomp', 317, 277, ALLOWED],
  ['unshare', 272, 97, 1],
  ['setns', 308, 268, 1],
  ['mount', 165, 40, 1],
  ['umount2', 166, 39, 1],
  ['pivot_root', 155, 41, 1],
  ['move_mount', 429, 429, 1],
  ['open_tree', 428, 428, 1],
  ['open_tree_attr', 467, 467, 1],
  ['fsopen', 430, 430, 1],
  ['fsconfig', 431, 431, 1],
  ['fsmount', 432, 432, 1],
  ['fspick', 433, 433, 1],
  ['mount_setattr', 442, 442, 1],
  ['keyctl', 250, 219, 1],
  ['add_key', 248, 217, 1],
  ['request_key', 249, 218, 1],
  ['bpf', 321, 280, 1],
  ['io_uring_setup', 425, 425, 1],
  ['io_uring_enter', 426, 426, 1],
  ['io_uring_register', 427, 427, 1],
  ['userfaultfd', 323, 282, 1],
  ['clone3', 435, 435, 38],
  ['clone of a thread', 56, 220, ALLOWED, [0x3d_0f00]],
  ['clone of a process', 56, 220, ALLOWED, [0x11]],
  ['clone with a user namespace', 56, 220, 1, [0x1000_0011]],
  ['clone with a mount namespace', 56, 220, 1, [0x2_0011]],
  ['clone with a network namespace and high bits', 56, 220, 1, [HIGH_BITS + 0x4000_0011]],
  ['ioctl TCGETS', 16, 29, ALLOWED, [0, 0x5401]],
  ['ioctl TIOCSTI', 16, 29, 1, [0, 0x5412]],
  ['ioctl TIOCSTI with high bits', 16, 29, 1, [0, HIGH_BITS + 0x5412]],
  ['ioctl TIOCLINUX', 16, 29, 1, [0, 0x541c]],
  ['ioctl FICLONE', 16, 29, ALLOWED, [0, 0x4004_9409]],
  ['ioctl that creates a subvolume', 16, 29, 1, [0, 0x5000_940e]],
  ['ioctl that creates a subvolume (2)', 16, 29, 1, [0, 0x5000_9418]],
  ['ioctl that creates a snapshot', 16, 29, 1, [0, 0x5000_9401]],
  ['ioctl that creates a snapshot (2)', 16, 29, 1, [0, HIGH_BITS + 0x5000_9417]],
  ['a Unix socket', 41, 198, ALLOWED, [1]],
  ['a socket of algorithms', 41, 198, 1, [38]],
];

test.each(CALLS)('the filter judges %s by its number and arguments', (...call) => {
  const [, x64, arm64, expected, args] = call;
  expect(run('x64', { number: x64, mark: MARKS.x64, args })).toBe(expected);
  expect(run('arm64', { number: arm64, mark: MARKS.arm64, args })).toBe(expected);
});

test('the filter refuses the calls of other tables', () => {
  expect(run('x64', { number: 0x4000_0000, mark: MARKS.x64 })).toBe(38);
  expect(run('x64', { number: 3, mark: MARKS.i386 })).toBe(38);
  expect(run('x64', { number: 63, mark: MARKS.arm64 })).toBe(38);
  expect(run('arm64', { number: 3, mark: MARKS.arm })).toBe(38);
});
