import type { JsonObject } from '#lib/agent-host';
import { HOST_LIST_RULE, isHostList, isNetwork, type Reach, reachWanted } from '#lib/kernel';
import { readLimits, type SessionLimits, SpawnError } from '#lib/session-runtime';

/** The command of `inputContext`, checked. */
export interface CommandSpec {
  command: [string, ...string[]];
  cwd: string | undefined;
  env: Record<string, string>;
  stdin: string | undefined;
  /** Undefined if the task names no network. */
  reach: Reach | undefined;
  limits: Partial<SessionLimits> | undefined;
}

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_ARGUMENTS = 10_000;

/**
 * @throws SpawnError in a sentence that names the wrong member of `inputContext`
 */
export function readCommandSpec(inputContext: JsonObject): CommandSpec {
  return {
    command: readCommand(inputContext['command']),
    cwd: optionalText(inputContext['cwd'], 'cwd'),
    env: readEnv(inputContext['env']),
    stdin: optionalText(inputContext['stdin'], 'stdin', true),
    reach: readReach(inputContext),
    limits: readLimits(inputContext['limits'], 'inputContext.limits'),
  };
}

function readCommand(value: unknown): [string, ...string[]] {
  if (typeof value === 'string') {
    throw new SpawnError(
      'setup',
      'inputContext.command must be an array of strings, not one string: no shell parses it',
    );
  }
  if (!Array.isArray(value) || value.length === 0 || !value.every(isArgument)) {
    throw new SpawnError(
      'setup',
      'inputContext.command must be a non-empty array of strings without NUL',
    );
  }
  if (value.length > MAX_ARGUMENTS) {
    throw new SpawnError(
      'setup',
      `inputContext.command can have at most ${MAX_ARGUMENTS} arguments`,
    );
  }
  const [program, ...rest] = value as [string, ...string[]];
  if (program === '') throw new SpawnError('setup', 'inputContext.command[0] must name a program');
  return [program, ...rest];
}

function readEnv(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new SpawnError('setup', 'inputContext.env must be an object of strings');
  }
  for (const [name, text] of Object.entries(value)) {
    if (!ENV_NAME.test(name) || !isArgument(text)) {
      throw new SpawnError(
        'setup',
        'inputContext.env must map variable names to strings without NUL',
      );
    }
    if (name.startsWith('DROVER_')) {
      throw new SpawnError(
        'setup',
        `inputContext.env cannot set ${name}: the worker sets DROVER_ variables`,
      );
    }
  }
  return value as Record<string, string>;
}

/**
 * The network that a task asks for.
 *
 * @throws SpawnError in a sentence that names the wrong member of `inputContext`
 */
export function readReach({ network, allowedHosts }: JsonObject): Reach | undefined {
  if (network !== undefined && network !== null && !isNetwork(network)) {
    throw new SpawnError('setup', 'inputContext.network must be "none", "allow" or "host"');
  }
  if (allowedHosts === undefined || allowedHosts === null) return reachWanted(network, undefined);
  if (!isHostList(allowedHosts)) {
    throw new SpawnError('setup', `inputContext.allowedHosts must be ${HOST_LIST_RULE}`);
  }
  if (network === 'allow') return reachWanted(network, allowedHosts);
  throw new SpawnError('setup', 'inputContext.allowedHosts needs the network "allow"');
}

function optionalText(value: unknown, name: string, mayHoldNul = false): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value === '' || (!mayHoldNul && value.includes('\0'))) {
    throw new SpawnError('setup', `inputContext.${name} must be a string that is not empty`);
  }
  return value;
}

function isArgument(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}
