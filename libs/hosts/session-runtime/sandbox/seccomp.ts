/** An instruction of the filter language (classic BPF). The kernel runs it for each system call. */
export interface Instruction {
  code: number;
  /** Instructions to skip if the condition is true, and if it is false. */
  jt: number;
  jf: number;
  k: number;
}

/** Codes of linux/bpf_common.h: load a word, compare, test bits, return. */
export const BPF = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, return: 0x06 } as const;

/** Results of linux/seccomp.h. The lower half of a refusal is the error number. */
const ALLOW = 0x7fff_0000;
const REFUSE = 0x0005_0000;
const EPERM = 1;
const ENOSYS = 38;

/** Offsets in `struct seccomp_data`. Arguments are 64 bits wide, the lower half first. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

/** Bits of a number that x86-64 uses for its second table, "x32". */
const SECOND_TABLE = 0x4000_0000;
/** CLONE_NEWNS, -NEWCGROUP, -NEWUTS, -NEWIPC, -NEWUSER, -NEWPID and -NEWNET. */
const NEW_NAMESPACES = 0x7e02_0000;
/** They put characters into the terminal of another process. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** They make subvolumes of btrfs, which the quota of the session's folder does not cover. */
const BTRFS_SUBVOL_CREATE = 0x5000_940e;
const BTRFS_SUBVOL_CREATE_V2 = 0x5000_9418;
const BTRFS_SNAP_CREATE = 0x5000_9401;
const BTRFS_SNAP_CREATE_V2 = 0x5000_9417;
const REFUSED_ORDERS = [
  TIOCSTI,
  TIOCLINUX,
  BTRFS_SUBVOL_CREATE,
  BTRFS_SUBVOL_CREATE_V2,
  BTRFS_SNAP_CREATE,
  BTRFS_SNAP_CREATE_V2,
];
/** A socket of this family can compute with a key of a keyring, by the key's number. */
const AF_ALG = 38;

/** System calls with the same number on every processor. */
const SHARED_NUMBERS = {
  clone3: 435,
  fsconfig: 431,
  fsmount: 432,
  fsopen: 430,
  fspick: 433,
  io_uring_enter: 426,
  io_uring_register: 427,
  io_uring_setup: 425,
  mount_setattr: 442,
  move_mount: 429,
  open_tree: 428,
  open_tree_attr: 467,
};

/** The system calls of one processor, and the mark by which the kernel names their table. */
const TABLES = {
  x64: {
    mark: 0xc000_003e,
    numbers: {
      ...SHARED_NUMBERS,
      add_key: 248,
      bpf: 321,
      clone: 56,
      ioctl: 16,
      keyctl: 250,
      mount: 165,
      pivot_root: 155,
      request_key: 249,
      setns: 308,
      socket: 41,
      umount2: 166,
      unshare: 272,
      userfaultfd: 323,
    },
  },
  arm64: {
    mark: 0xc000_00b7,
    numbers: {
      ...SHARED_NUMBERS,
      add_key: 217,
      bpf: 280,
      clone: 220,
      ioctl: 29,
      keyctl: 219,
      mount: 40,
      pivot_root: 41,
      request_key: 218,
      setns: 268,
      socket: 198,
      umount2: 39,
      unshare: 97,
      userfaultfd: 282,
    },
  },
};

export type SystemCall = keyof typeof TABLES.x64.numbers;
export type Processor = keyof typeof TABLES;

/** Namespaces, mounts, keyrings, and parts of the kernel that are large and rarely needed. */
const REFUSED: readonly SystemCall[] = [
  'unshare',
  'setns',
  'mount',
  'umount2',
  'pivot_root',
  'move_mount',
  'open_tree',
  'open_tree_attr',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'keyctl',
  'add_key',
  'request_key',
  'bpf',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'userfaultfd',
];

/** True if there is a filter for the processor. */
export function isKnownProcessor(name: string): name is Processor {
  return Object.hasOwn(TABLES, name);
}

/**
 * The filter for all processes of a sandbox. A refused call fails with EPERM. Calls by the tables
 * of other processors, such as those of 32-bit programs, fail with ENOSYS. So does `clone3`: a
 * filter cannot read its flags, and the C libraries then use `clone`.
 */
export function sandboxFilter(processor: Processor): Instruction[] {
  const { mark, numbers } = TABLES[processor];
  return [
    load(ARCHITECTURE),
    jump(BPF.equal, mark, 1, 0),
    refuse(ENOSYS),
    load(NUMBER),
    jump(BPF.atLeast, SECOND_TABLE, 0, 1),
    refuse(ENOSYS),
    jump(BPF.equal, numbers.clone3, 0, 1),
    refuse(ENOSYS),
    ...REFUSED.flatMap((name) => [jump(BPF.equal, numbers[name], 0, 1), refuse(EPERM)]),
    ...refuseIf(numbers.clone, argument(0), [jump(BPF.anyBit, NEW_NAMESPACES, 0, 1)]),
    ...refuseIf(numbers.ioctl, argument(1), equalsOneOf(REFUSED_ORDERS)),
    ...refuseIf(numbers.socket, argument(0), [jump(BPF.equal, AF_ALG, 0, 1)]),
    { code: BPF.return, jt: 0, jf: 0, k: ALLOW },
  ];
}

/** The filter in the kernel's form: 8 bytes each instruction, least significant byte first. */
export function encodeFilter(filter: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * filter.length);
  filter.forEach(({ code, jt, jf, k }, index) => {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(jt, 8 * index + 2);
    bytes.writeUInt8(jf, 8 * index + 3);
    bytes.writeUInt32LE(k, 8 * index + 4);
  });
  return bytes;
}

/**
 * The last condition skips the refusal if it is false. The kernel reads only the lower half of
 * these arguments, so the filter does, too: a set bit above hides nothing.
 */
function refuseIf(number: number, offset: number, conditions: Instruction[]): Instruction[] {
  const body = [load(offset), ...conditions, refuse(EPERM), load(NUMBER)];
  return [jump(BPF.equal, number, 0, body.length), ...body];
}

/** A match skips the other comparisons. */
function equalsOneOf(values: readonly number[]): Instruction[] {
  return values.map((value, index) => {
    const others = values.length - 1 - index;
    return jump(BPF.equal, value, others, others === 0 ? 1 : 0);
  });
}

function load(offset: number): Instruction {
  return { code: BPF.load, jt: 0, jf: 0, k: offset };
}

function jump(code: number, k: number, jt: number, jf: number): Instruction {
  return { code, jt, jf, k };
}

function refuse(errno: number): Instruction {
  return { code: BPF.return, jt: 0, jf: 0, k: REFUSE + errno };
}
