import type { ATTEMPTS } from './illegal-rows.js';

const CHANGE = (set: string, constraint: string) =>
  [`UPDATE changes SET ${set}`, `changes_${constraint}`] as [string, string];
const REVIEW = (set: string, constraint: string) =>
  [`UPDATE change_reviews SET ${set}`, `change_reviews_${constraint}`] as [string, string];

/** The part of ATTEMPTS about changes. */
export const CHANGE_ATTEMPTS: typeof ATTEMPTS = {
  'a change': [
    ['UPDATE agent_tasks SET repository_id = uuidv7()', 'agent_tasks_repository_fkey'],
    [
      `INSERT INTO changes (workspace_id, task_id, repository_id, target)
       SELECT workspace_id, uuidv7(), repository_id, 'main' FROM changes`,
      'changes_task_fkey',
    ],
    [
      `INSERT INTO changes (workspace_id, task_id, repository_id, target, state, step, step_due_at,
         step_agent_id, step_until)
       SELECT t.workspace_id, t.id, c.repository_id, 'main', 'APPROVED', 'land', now(), uuidv7(), now()
       FROM agent_tasks t JOIN changes c ON c.workspace_id = t.workspace_id WHERE t.id <> c.task_id`,
      'changes_landing_key',
    ],
    [
      `INSERT INTO changes (workspace_id, task_id, repository_id, target, state, step, step_due_at,
         attempts_id)
       SELECT t.workspace_id, t.id, c.repository_id, 'main', 'APPROVED', 'land', now(), c.task_id
       FROM agent_tasks t JOIN changes c ON c.workspace_id = t.workspace_id WHERE t.id <> c.task_id`,
      'changes_approved_attempt_key',
    ],
    CHANGE('repository_id = uuidv7()', 'repository_fkey'),
    CHANGE('attempts_id = uuidv7()', 'attempts_fkey'),
    CHANGE(`state = 'LOST'`, 'state_check'),
    CHANGE(`target = ''`, 'target_check'),
    CHANGE(`step = 'push', step_due_at = now()`, 'step_check'),
    CHANGE('pull_request = 0', 'pull_request_check'),
    CHANGE(`review_step = 'beg'`, 'review_step_check'),
    CHANGE(`step = 'prove'`, 'steps_are_due'),
    CHANGE('step_agent_id = uuidv7()', 'steps_have_leases'),
    CHANGE(`step = 'prove', step_due_at = now()`, 'steps_of_states'),
    REVIEW('task_id = uuidv7()', 'change_fkey'),
    REVIEW(`kind = 'guess'`, 'kind_check'),
    REVIEW(`verdict = 'maybe'`, 'verdict_check'),
    REVIEW(`comments = '{}'`, 'comments_check'),
  ],
};
