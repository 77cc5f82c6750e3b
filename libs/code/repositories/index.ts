export * from './domain/index.js';
export { RepositoryAccessDto } from './http/repository-access.dto.js';
export { CheckWorkDto } from './http/repository-check.dto.js';
export { type CheckWork, RepositoryChecks } from './checks/repository-checks.js';
export { Repositories } from './repositories/repositories.js';
export { RepositoriesModule } from './repositories.module.js';
