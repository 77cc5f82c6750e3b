import type { components } from '#lib/api-client';
import { FormError } from './task-draft.js';

type Rule = components['schemas']['HookRule'];

/** Reads the rules of a hook's form. @throws FormError if they are not a JSON list */
export function readRules(text: string): Rule[] {
  let rules: unknown;
  try {
    rules = JSON.parse(text);
  } catch (error) {
    throw new FormError(`The rules are not JSON: ${(error as Error).message}.`, 'rules');
  }
  if (!Array.isArray(rules)) throw new FormError('The rules must be a JSON list.', 'rules');
  return rules as Rule[];
}

/** The first rules of a new hook: an issue with the label `drover` becomes a task. */
export const FIRST_RULES: Record<string, Rule[]> = {
  github: [
    {
      on: 'issues.labeled',
      when: { 'label.name': 'drover' },
      do: 'create_task',
      task: { title: '{{issue.title}}', description: '{{issue.body}}', taskType: 'issue' },
    },
  ],
  gitea: [
    {
      on: 'issues.label_updated',
      when: { 'issue.labels.*.name': 'drover' },
      do: 'create_task',
      task: { title: '{{issue.title}}', description: '{{issue.body}}', taskType: 'issue' },
    },
  ],
  gitlab: [
    {
      on: 'Issue Hook',
      when: { 'labels.*.title': 'drover' },
      do: 'create_task',
      task: { title: '{{object_attributes.title}}', taskType: 'issue' },
    },
  ],
  generic: [
    { on: 'order.late', do: 'create_task', task: { title: '{{text}}', taskType: 'order' } },
  ],
};
