import { type AgentKind, KindSettingsError } from './agent-kind.js';

type Described = Pick<AgentKind, 'name' | 'settings'>;

/** Reads the settings of a kind, each with its type. An unknown setting is an error. */
export class KindSettings {
  constructor(
    private readonly kind: Described,
    private readonly values: Readonly<Record<string, unknown>>,
  ) {
    const unknown = Object.keys(values).find((name) => !(name in kind.settings));
    if (unknown === undefined) return;
    const known = Object.keys(kind.settings);
    const offer = known.length === 0 ? 'It has none.' : `Use ${known.join(', ')}.`;
    throw new KindSettingsError(`The kind ${kind.name} has no setting "${unknown}". ${offer}`);
  }

  string(name: string): string | undefined {
    const value = this.values[name];
    if (value === undefined || (typeof value === 'string' && value !== '')) return value;
    throw this.error(name, 'a text');
  }

  /** Reads a whole number from 1. */
  count(name: string): number | undefined {
    const value = this.values[name];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
    throw this.error(name, 'a whole number from 1');
  }

  strings(name: string): string[] | undefined {
    const value = this.values[name];
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw this.error(name, 'a list of texts');
  }

  record(name: string): Record<string, string> {
    const value = this.values[name] ?? {};
    const isRecord = typeof value === 'object' && !Array.isArray(value);
    if (isRecord && Object.values(value).every((item) => typeof item === 'string')) {
      return value as Record<string, string>;
    }
    throw this.error(name, 'an object of texts');
  }

  error(name: string, wanted: string): KindSettingsError {
    return new KindSettingsError(`The setting "${name}" of ${this.kind.name} must be ${wanted}.`);
  }
}

/** @throws {KindSettingsError} if the kind needs a program and the host has none */
export function commandOf(
  program: readonly string[],
  ...parameters: string[]
): [string, ...string[]] {
  const [first, ...rest] = program;
  if (first === undefined) throw new KindSettingsError('The host has no program for this kind.');
  return [first, ...rest, ...parameters];
}
