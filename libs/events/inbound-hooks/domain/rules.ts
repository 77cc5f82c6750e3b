import { cut } from '#lib/kernel';
import type { HookEvent } from './event.js';
import { MAX_SUBJECT } from './event.js';
import type { HookKind } from './signature.js';
import { fillIn, textAt, valuesAt } from './template.js';

export const DEEDS = ['create_task', 'resume_task'] as const;
export type Deed = (typeof DEEDS)[number];

type Scalar = string | number | boolean;

/** The action for an event. */
export interface HookRule {
  /** The event's name or its part before a dot: `issues` also matches `issues.labeled`. */
  on: string;
  /** Paths of the payload with the expected value or a list of them. All must match. */
  when?: Record<string, Scalar | Scalar[]>;
  do: Deed;
  /** create_task: the body of POST /agent-tasks. Its texts can contain `{{path}}`. */
  task?: Record<string, unknown>;
  /** create_task: create no second task for the same subject. Default: true. */
  once?: boolean;
  /** The event's subject, instead of its issue or merge request. */
  subject?: string;
  /** resume_task: the message of the resumption, instead of the comment. */
  text?: string;
}

export interface Matched {
  rule: HookRule;
  /** Position in the list of rules. */
  index: number;
}

/** The first matching rule. */
export function ruleFor(rules: readonly HookRule[], event: HookEvent): Matched | undefined {
  const index = rules.findIndex((rule) => concerns(rule, event));
  const rule = rules[index];
  return rule && { rule, index };
}

function concerns({ on, when = {} }: HookRule, { name, payload }: HookEvent): boolean {
  if (name !== on && !name.startsWith(`${on}.`)) return false;
  return Object.entries(when).every(([path, wanted]) => {
    const values = valuesAt(payload, path);
    return [wanted].flat().some((value) => values.includes(value));
  });
}

/** The event's subject according to the rule. Null if there is none. */
export function subjectOf({ subject }: HookRule, event: HookEvent): string | null {
  const text = subject === undefined ? event.subject : filled(subject, event);
  return cut(text.trim(), MAX_SUBJECT) || null;
}

const MAX_TITLE = 255;
const MAX_DESCRIPTION = 20_000;

/** The body of POST /agent-tasks before validation. `source` records its origin in the metadata. */
export function taskOf(rule: HookRule, event: HookEvent, source: object): Record<string, unknown> {
  const task = filled(rule.task ?? {}, event);
  const { title, description, metadata } = task;
  return {
    ...task,
    ...(typeof title === 'string' && { title: cut(title, MAX_TITLE) }),
    ...(typeof description === 'string' && { description: cut(description, MAX_DESCRIPTION) }),
    metadata: { source, ...(metadata as object | undefined) },
  };
}

const COMMENT: Record<HookKind, string> = {
  github: '{{comment.body}}',
  gitea: '{{comment.body}}',
  gitlab: '{{object_attributes.note}}',
  generic: '{{text}}',
};
const MAX_REASON = 1_000;

/** The message of a resumption. Undefined if there is none. */
export function reasonOf(rule: HookRule, kind: HookKind, event: HookEvent): string | undefined {
  const text = filled(rule.text ?? COMMENT[kind], event).trim();
  return cut(text, MAX_REASON) || undefined;
}

function filled<T>(template: T, { payload }: HookEvent): T {
  return fillIn(template, (path) => textAt(payload, path));
}
