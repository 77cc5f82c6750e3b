import type { FieldError } from '../errors/drover-error.js';

export const PERMISSION_DECISIONS = ['allow', 'deny', 'ask'] as const;
/** `ask`: a person decides. */
export type PermissionDecision = (typeof PERMISSION_DECISIONS)[number];

/** A rule for the tools of a coding agent. */
export interface PermissionRule {
  /** A tool's name, or its class: shell, edit, read, other. `*` stands for any characters. */
  tool: string;
  /** The commands or paths. `*` stands for any characters. */
  pattern: string;
  decision: PermissionDecision;
}

/** The use of a tool that rules decide about. */
export interface ToolUse {
  tool: string;
  category: 'shell' | 'edit' | 'read' | 'other';
  /** The command, or the paths of the files. It is never empty. */
  subjects: readonly string[];
  /** True if the agent does not tell the class of the tool. Any rule could mean it. */
  isUnknown?: boolean;
}

/** The decision without a rule, by permission mode. `plan` has no rules. */
const DEFAULTS: Record<'auto' | 'ask' | 'read-only', (use: ToolUse) => PermissionDecision> = {
  auto: () => 'allow',
  ask: () => 'ask',
  'read-only': ({ category }) => (category === 'read' ? 'allow' : 'deny'),
};

export const MAX_RULES = 100;
const MAX_TOOL = 100;
const MAX_PATTERN = 500;

/** The tool of rules for Drover's own API, which the server checks. Tokens of runs carry them. */
const DROVER = 'drover';
const MAX_DROVER_RULES = 20;
const MAX_DROVER_PATTERN = 100;
/** Other characters are longer in a token, whose length is limited. No operation has them. */
const DROVER_PATTERN = /^[\w.*-]+$/;

/** Characters with which a shell runs a further command, or writes a file. */
const OPERATORS = /[;&|<>`\n\r]|\$\(/;

/** A word before a command that does not change the command: a reserved word or an assignment. */
const BEFORE_COMMAND =
  /(?:if|then|elif|else|while|until|do|time|[!{}]|[A-Za-z_]\w*\+?=(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])*) /y;

/**
 * Checks rules of a request.
 *
 * @param field the name of the list
 * @returns the first error; undefined if there is none
 */
export function errorInRules(value: unknown, field: string): FieldError | undefined {
  if (!Array.isArray(value) || value.length > MAX_RULES) {
    return { field, message: `must be an array of at most ${MAX_RULES} rules` };
  }
  for (const [index, rule] of value.entries()) {
    const message = errorInRule(rule);
    if (message !== undefined) return { field: `${field}[${index}]`, message };
  }
  const own = value.filter(({ tool }: PermissionRule) => tool === DROVER);
  if (own.length <= MAX_DROVER_RULES) return undefined;
  return { field, message: `must have at most ${MAX_DROVER_RULES} rules for ${DROVER}` };
}

/**
 * Decides about the use of a tool. The first rule that matches counts. A rule that allows must match
 * each subject. A pattern with `*`, unless it is `*` alone, allows no command with operators of the
 * shell. A rule that denies or asks matches a part of such a command, too. Beside rules, a tool of an
 * unknown class is never allowed without one.
 */
export function decidePermission(
  rules: readonly PermissionRule[],
  mode: keyof typeof DEFAULTS,
  use: ToolUse,
): PermissionDecision {
  const parts = rules.length === 0 ? [] : use.subjects.flatMap((text) => partsOf(use, text));
  const found = rules.find((rule) => matchesTool(rule, use) && matchesSubject(rule, use, parts));
  if (found !== undefined) return found.decision;
  const decision = DEFAULTS[mode](use);
  return use.isUnknown && rules.length > 0 && decision === 'allow' ? 'ask' : decision;
}

/**
 * The rules for operations of Drover's own API, as the tokens of runs carry them: `+` or `-` before
 * each pattern. Undefined for none.
 */
export function operationRulesOf(rules: readonly PermissionRule[]): string[] | undefined {
  const own = rules.filter(({ tool }) => tool === DROVER);
  const compact = own.map(
    ({ pattern, decision }) => `${decision === 'allow' ? '+' : '-'}${pattern}`,
  );
  return compact.length === 0 ? undefined : compact;
}

/** Whether rules of `operationRulesOf` allow an operation. Without a match they do. */
export function allowsOperation(rules: readonly string[], operation: string): boolean {
  const found = rules.find((rule) => matchesPattern(rule.slice(1), operation));
  return found === undefined || found.startsWith('+');
}

/** Whether the text matches the pattern, in which `*` stands for any characters. Linear in time. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

function matchesTool({ tool }: PermissionRule, use: ToolUse): boolean {
  return matchesPattern(tool, use.tool) || tool === use.category;
}

/** @param parts those of all subjects */
function matchesSubject(
  { pattern, decision }: PermissionRule,
  use: ToolUse,
  parts: readonly string[],
): boolean {
  const matches = (text: string) => matchesPattern(pattern, text);
  if (decision !== 'allow') return parts.some(matches);
  const isWide = pattern.includes('*') && pattern !== '*';
  const isCompound = use.category === 'shell' && use.subjects.some((text) => OPERATORS.test(text));
  return !(isWide && isCompound) && use.subjects.every(matches);
}

/**
 * A command with its parts between operators, each also with single blanks and without the words
 * before it. Quotes, variables and scripts still hide a command.
 */
function partsOf({ category }: ToolUse, text: string): string[] {
  if (category !== 'shell') return [text];
  const joined = text.replaceAll(/\\(?:\\|\r?\n)/g, (found) => (found === '\\\\' ? found : ''));
  const parts = joined.split(/[;&|<>`\n\r()]/).map((part) => part.replace(/\$$/, '').trim());
  const spaced = [text, ...parts].map((part) => part.trim().replaceAll(/\s+/g, ' '));
  const found = [...parts, ...spaced, ...spaced.map(commandIn)];
  return [text, ...found.filter((part) => part !== '')];
}

function commandIn(part: string): string {
  let at = 0;
  do {
    BEFORE_COMMAND.lastIndex = at;
    if (!BEFORE_COMMAND.test(part)) return part.slice(at);
    at = BEFORE_COMMAND.lastIndex;
  } while (at < part.length);
  return '';
}

function errorInRule(rule: unknown): string | undefined {
  const isObject = typeof rule === 'object' && rule !== null && !Array.isArray(rule);
  if (!isObject) return 'must be an object with tool, pattern and decision';
  const { tool, pattern, decision, ...others } = rule as Record<string, unknown>;
  const [other] = Object.keys(others);
  if (other !== undefined) return `has no field "${other.slice(0, 50)}"`;
  if (!isText(tool, MAX_TOOL)) return `tool must be a text of 1 to ${MAX_TOOL} characters`;
  if (!isText(pattern, MAX_PATTERN)) {
    return `pattern must be a text of 1 to ${MAX_PATTERN} characters`;
  }
  if (tool === DROVER && decision === 'ask') return `decision must be allow or deny for ${DROVER}`;
  if (tool === DROVER && !isText(pattern, MAX_DROVER_PATTERN)) {
    return `pattern must be a text of 1 to ${MAX_DROVER_PATTERN} characters for ${DROVER}`;
  }
  if (tool === DROVER && !DROVER_PATTERN.test(pattern as string)) {
    return `pattern must be of ASCII letters, digits, _, ., - and * for ${DROVER}`;
  }
  const isKnown = PERMISSION_DECISIONS.some((known) => known === decision);
  return isKnown ? undefined : `decision must be one of ${PERMISSION_DECISIONS.join(', ')}`;
}

function isText(value: unknown, max: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= max;
}
