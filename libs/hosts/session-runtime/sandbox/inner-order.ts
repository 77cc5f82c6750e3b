import { SpawnError } from '../drivers/driver.js';
import type { Calls } from './inner-process.js';

/**
 * The order to a sandbox's first process. An empty line follows after the host found the command's
 * process.
 */
export interface InnerOrder {
  program: string;
  command: [string, ...string[]];
  env: Record<string, string>;
  cwd: string;
  /** The ports of the loopback address that lead to services, and the sockets behind them. */
  services: { port: number; socket: string }[];
  calls: Calls;
}

/** The answers, each one line of JSON: `started` or `failed`; after `started` once `exited`. */
export type InnerAnswer =
  /** The process id within the sandbox. */
  | { started: number }
  /** The number of the error; `cwd` if its user cannot enter the working directory. */
  | { failed: number | 'cwd' }
  /** One of the two numbers is null. */
  | { exited: { exitCode: number | null; signal: number | null } };

/**
 * The order as a list of fields with their lengths. Some of them are lists, too.
 *
 * @throws SpawnError for a NUL character, at which the system would cut a value
 */
export function encodeOrder(order: InnerOrder): Buffer {
  const { program, cwd, command, env, services, calls } = order;
  return field(
    list([
      program,
      cwd,
      list(command),
      list(Object.entries(env).flat()),
      list(services.flatMap(({ port, socket }) => [String(port), socket])),
      String(calls.setsid),
      String(calls.prctl),
    ]),
  );
}

function list(fields: (string | Buffer)[]): Buffer {
  return Buffer.concat(fields.map(field));
}

function field(value: string | Buffer): Buffer {
  if (typeof value === 'string' && value.includes('\0'))
    throw new SpawnError('setup', 'The command or its environment has a NUL character');
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
