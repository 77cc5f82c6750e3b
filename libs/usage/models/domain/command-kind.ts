import { createHash } from 'node:crypto';
import { redactSecrets, SecretValues } from '#lib/secrets/domain';

/** The type of tasks whose history says nothing: `sleep 1` and `npm test` have it. */
const TYPE_OF_COMMANDS = 'command';

/** The parts that differ between two runs of the same command: ids, times and digests. */
const CHANGING = [
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi,
  /\d{4}-\d{2}-\d{2}(?:[T ]?\d{2}:?\d{2}(?::?\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g,
  /\b[0-9a-f]{12,}\b/gi,
];

/**
 * The kind of a task by its command, for tasks of the type `command`: the same for the same program
 * and arguments, whatever ids, times and secrets they contain. Null for other tasks, whose kind is
 * their type.
 */
export function commandKindOf({
  taskType,
  inputContext,
  secrets,
}: {
  taskType: string;
  inputContext?: unknown;
  secrets?: unknown;
}): string | null {
  if (taskType !== TYPE_OF_COMMANDS) return null;
  const { command } = (inputContext ?? {}) as { command?: unknown };
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return null;
  const shown = redactSecrets(command, SecretValues.in({ secrets })) as string[];
  const [program = '', ...args] = shown;
  const words = [program.split('/').at(-1) ?? '', ...args].map(withoutChanging);
  const hash = createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32);
  return `${TYPE_OF_COMMANDS} ${hash}`;
}

function withoutChanging(word: string): string {
  const trimmed = word.replaceAll(/\s+/g, ' ').trim();
  return CHANGING.reduce((text, pattern) => text.replaceAll(pattern, '*'), trimmed);
}
