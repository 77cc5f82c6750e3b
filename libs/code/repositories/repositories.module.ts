import { Module } from '@nestjs/common';
import { RepositoriesController } from './http/repositories.controller.js';
import { Repositories } from './repositories/repositories.js';

/** Repositories on which agents work. */
@Module({
  controllers: [RepositoriesController],
  providers: [Repositories],
  exports: [Repositories],
})
export class RepositoriesModule {}
