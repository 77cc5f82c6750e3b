import { e } from './error-entry.js';

/** The part of ERRORS about repositories and changes of their code. */
export const CODE_ERRORS = {
  repository_not_found: e(
    404,
    'The repository does not exist',
    'Check the id in the list of repositories.',
  ),
  repository_archived: e(409, 'The repository is archived', 'Name another repository.'),
  repository_exists: e(
    409,
    'A repository has this name',
    'Choose another name, or change the existing repository.',
  ),
} as const;
