import type { ErrorCode, Problem } from '#lib/api-client';
import type { CommandSpec } from './command.js';

/** Advice for people in place of advice for programs. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  workspace_required: 'Name a workspace with --workspace.',
  ambiguous_id: 'Type more digits of the id.',
  forbidden: 'Ask an OWNER or ADMIN of the workspace.',
  insufficient_scope: 'Use an API key with this scope.',
  rate_limited: 'Wait a moment, then try again.',
  queue_full: 'Wait until tasks have finished, or ask an operator to raise the limit.',
  prompt_not_found: 'Preview the next prompt with `drover prompt preview`.',
  illegal_transition: 'Choose another command, or print the state with the `show` command.',
  cascade_too_large: 'Cancel its dependents first.',
  run_commands_forbidden: 'Ask an ADMIN of the workspace to allow them.',
  model_not_allowed: 'Name another model, or ask an ADMIN of the workspace to allow this one.',
  run_ended: 'Continue the task with `drover task continue`.',
  question_closed: 'Read its answer with `drover question show`.',
  budget_exceeded: 'Move fewer tokens, or raise the budget with `drover budget edit`.',
  schedule_exists: 'Choose another name, or change that one with `drover schedule update`.',
  task_template_exists: 'Choose another name, or change that one with `drover template update`.',
  version_mismatch: 'Somebody else changed it meanwhile. Try again.',
  dependency_cycle: 'Remove one of these dependencies.',
};

/** Words of the API: requests, headers and fields. */
const OF_THE_API =
  /\b(?:GET|POST|PUT|PATCH|DELETE)\b|\bRetry-After\b|\bIf-Match\b|-Key\b|`[a-z]\w*`/;

const HELP = 'Run the command with --help to see its options.';

/** The details of refusals that no role of a workspace changes. */
const FOR_OPERATORS = /\boperators of (?:this|the) installation\b/;

/** The advice of a refusal without its sentences for programs. */
export function adviceFor({ code, advice, detail = '' }: Refusal): string {
  if (code === 'forbidden' && FOR_OPERATORS.test(detail))
    return 'An operator must sign in with `drover login`. API keys have no rights of operators.';
  const known = ADVICE[code];
  if (known !== undefined) return known;
  const sentences = advice.split(/(?<=[.!?]) /);
  const kept = sentences.filter((sentence) => !OF_THE_API.test(sentence));
  return kept.join(' ') || HELP;
}

type Refusal = Pick<Problem, 'code' | 'advice' | 'detail'>;

/** Options for fields of the API with another name. */
const OPTIONS: Partial<Record<string, readonly string[]>> = {
  acceptanceScript: ['accept'],
  agentId: ['assign-to', 'agent'],
  allocated: ['tokens'],
  amount: ['tokens'],
  command: ['command'],
  everySeconds: ['every'],
  inputContext: ['input'],
  maxConcurrentTasks: ['slots'],
  periodEnd: ['to'],
  periodStart: ['from'],
  projectId: ['project'],
  repositoryId: ['repo'],
  requiredCapabilities: ['capability'],
  scopeId: ['project', 'id'],
  scopes: ['scope'],
  taskType: ['type'],
};

/** The option or the argument of a command that sets a field, or the field itself. */
export function nameOfField(field: string, { usage, options = [] }: Spec): string {
  const words = field.split(/[.[\]]+/).filter((word) => word !== '');
  const names = [words.at(-1) ?? '', words[0] ?? ''].flatMap((word) => [
    ...(OPTIONS[word] ?? []),
    ...variantsOf(word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)),
  ]);
  const isOption = (name: string) => options.some(([flags]) => ` ${flags} `.includes(`--${name} `));
  for (const name of names) {
    if (isOption(name)) return `--${name}`;
    if (usage.includes(`<${name}>`)) return `<${name}>`;
  }
  return field;
}

type Spec = Pick<CommandSpec, 'usage' | 'options'>;

/** `retry-backoff-seconds` is `--retry-backoff`, and `tags` is `--tag`. */
function variantsOf(name: string): string[] {
  return [name, name.replace(/-seconds$/, ''), name.replace(/ies$/, 'y').replace(/s$/, '')];
}
