import { e } from './error-entry.js';

/** The part of ERRORS about schedules and templates of tasks. */
export const TIME_ERRORS = {
  schedule_not_found: e(
    404,
    'The schedule does not exist',
    'Check the id in the list of schedules.',
  ),
  schedule_exists: e(
    409,
    'The workspace has a schedule of this name',
    'Choose another name, or change the schedule by PATCH.',
  ),
  schedule_limit: e(
    409,
    'The workspace has the maximum number of schedules',
    'Delete one. An operator can raise MAX_SCHEDULES_PER_WORKSPACE.',
  ),
  task_template_not_found: e(
    404,
    'The template does not exist',
    'Check the id in the list of templates.',
  ),
  task_template_exists: e(
    409,
    'The workspace has a template of this name',
    'Choose another name, or change the template by PATCH.',
  ),
  task_template_limit: e(
    409,
    'The workspace has the maximum number of templates',
    'Delete a template that nobody uses.',
  ),
} as const;
