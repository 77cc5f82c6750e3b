export { secretTextsOf } from './credentials.js';
export { branchOf } from './branch.js';
export type {
  Credentials,
  MergeMethod,
  RepositoryAccess,
  RepositorySettings,
  Review,
  Reviewer,
} from './repository.js';
