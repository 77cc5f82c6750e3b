export * from './domain/index.js';
export { RepositoryAccessDto } from './http/repository-access.dto.js';
export { Repositories } from './repositories/repositories.js';
export { RepositoriesModule } from './repositories.module.js';
