import { writeFileSync } from 'node:fs';
import type { Processor } from './seccomp.js';

/**
 * The instructions of a program that calls keyctl(KEYCTL_JOIN_SESSION_KEYRING, NULL) and becomes its
 * arguments by execve(argv[1], &argv[1], envp). If that fails, it exits with 126. The stack of a new
 * program has the number of arguments, the arguments, a null and the environment.
 */
const INSTRUCTIONS: Record<Processor, string[]> = {
  x64: [
    'b8fa000000', // mov eax, 250
    'bf01000000', // mov edi, 1
    '31f6', // xor esi, esi
    '0f05', // syscall
    '488b7c2410', // mov rdi, [rsp+16]
    '488d742410', // lea rsi, [rsp+16]
    '488b0c24', // mov rcx, [rsp]
    '488d54cc10', // lea rdx, [rsp+rcx*8+16]
    'b83b000000', // mov eax, 59
    '0f05', // syscall
    'bf7e000000', // mov edi, 126
    'b83c000000', // mov eax, 60
    '0f05', // syscall
  ],
  arm64: [
    '681b80d2', // mov x8, 219
    '200080d2', // mov x0, 1
    '010080d2', // mov x1, 0
    '010000d4', // svc 0
    'e90340f9', // ldr x9, [sp]
    'e00b40f9', // ldr x0, [sp, 16]
    'e1430091', // add x1, sp, 16
    '220c098b', // add x2, x1, x9, lsl 3
    'a81b80d2', // mov x8, 221
    '010000d4', // svc 0
    'c00f80d2', // mov x0, 126
    'a80b80d2', // mov x8, 93
    '010000d4', // svc 0
  ],
};

const MACHINES: Record<Processor, number> = { x64: 62, arm64: 183 };
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const CODE_AT = HEADER_BYTES + SEGMENT_BYTES;
/** The address of the program in memory. */
const ADDRESS = 0x40_0000;
const LARGEST_PAGE = 0x1_0000;

/**
 * Writes a program that joins a new, empty session keyring and becomes its arguments, the first of
 * which is a path. Only a system call joins one, and Node cannot make it.
 */
export function writeKeyringProgram(file: string, processor: Processor): void {
  writeFileSync(file, keyringProgram(processor), { mode: 0o700 });
}

/** An ELF file of one segment. */
function keyringProgram(processor: Processor): Buffer {
  const code = Buffer.from(INSTRUCTIONS[processor].join(''), 'hex');
  const file = Buffer.alloc(CODE_AT + code.length);
  const size = BigInt(file.length);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  file.writeUInt16LE(2, 16); // ET_EXEC
  file.writeUInt16LE(MACHINES[processor], 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(ADDRESS + CODE_AT), 24);
  file.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  file.writeUInt16LE(HEADER_BYTES, 52);
  file.writeUInt16LE(SEGMENT_BYTES, 54);
  file.writeUInt16LE(1, 56);
  const segment = file.subarray(HEADER_BYTES);
  segment.writeUInt32LE(1, 0); // PT_LOAD
  segment.writeUInt32LE(5, 4); // It can be read and executed.
  segment.writeBigUInt64LE(BigInt(ADDRESS), 16);
  segment.writeBigUInt64LE(BigInt(ADDRESS), 24);
  segment.writeBigUInt64LE(size, 32);
  segment.writeBigUInt64LE(size, 40);
  segment.writeBigUInt64LE(BigInt(LARGEST_PAGE), 48);
  file.set(code, CODE_AT);
  return file;
}
