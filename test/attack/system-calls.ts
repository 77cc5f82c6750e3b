/** The error number of a system call that a Perl program makes, 0 if the call succeeds. */
export function callScript(label: string, ...args: (number | string)[]): string {
  const list = args.map((arg) => (typeof arg === 'number' ? arg : `"${arg}"`)).join(', ');
  return `perl -e 'my @a = (${list}); my $r = syscall(shift(@a), @a); print "${label}=", ($r == -1 ? $!+0 : 0), "\\n"'`;
}

/** Numbers of x86-64; the filter of other processors has a unit test. */
export const NUMBERS = {
  ioctl: 16,
  socket: 41,
  clone: 56,
  ptrace: 101,
  pivot_root: 155,
  mount: 165,
  umount2: 166,
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  unshare: 272,
  setns: 308,
  process_vm_readv: 310,
  bpf: 321,
  userfaultfd: 323,
  io_uring_setup: 425,
  open_tree: 428,
  fsopen: 430,
  fsconfig: 431,
  clone3: 435,
  pidfd_open: 434,
  pidfd_getfd: 438,
  mount_setattr: 442,
  open_tree_attr: 467,
} as const;
