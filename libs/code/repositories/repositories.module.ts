import { Module } from '@nestjs/common';
import { RepositoryChecks } from './checks/repository-checks.js';
import { RepositoriesController } from './http/repositories.controller.js';
import { RepositoryChecksController } from './http/repository-checks.controller.js';
import { Repositories } from './repositories/repositories.js';

/** Repositories on which agents work. */
@Module({
  controllers: [RepositoriesController, RepositoryChecksController],
  providers: [Repositories, RepositoryChecks],
  exports: [Repositories, RepositoryChecks],
})
export class RepositoriesModule {}
