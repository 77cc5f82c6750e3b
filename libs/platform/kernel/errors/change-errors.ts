import { e } from './error-entry.js';

/** The part of ERRORS about changes of code. */
export const CHANGE_ERRORS = {
  change_not_found: e(
    404,
    'The change does not exist',
    'Check the id in the list of changes. A change has the id of its task.',
  ),
  run_has_no_repository: e(
    409,
    'The task of the run changes no repository',
    'Complete the run as usual. Only a task with a repositoryId has a change.',
  ),
  change_moved: e(
    409,
    'The change has another head commit now',
    'Read the change again, then review the commit in `headCommit`.',
  ),
  change_required: e(
    409,
    'The run ends with the submission of its change',
    'Submit the change. Its task completes when the change is merged.',
  ),
  acceptance_required: e(
    409,
    'The host of the run proves its work before it completes it',
    'End the process with exit code 0. Its host runs the acceptance commands of the task.',
  ),
  stale_step: e(
    409,
    'Another host has the step of the change, or the step has ended',
    'Stop the work on the step, and claim the next one.',
  ),
} as const;
