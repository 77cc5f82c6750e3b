import { Module } from '@nestjs/common';
import { MilestonesController } from './http/milestones.controller.js';
import { ProjectsController } from './http/projects.controller.js';
import { MilestonesService } from './milestones/milestones.service.js';
import { ProjectsService } from './projects/projects.service.js';

/** Projects and milestones, which tasks can name and budgets can limit. */
@Module({
  controllers: [ProjectsController, MilestonesController],
  providers: [ProjectsService, MilestonesService],
  exports: [ProjectsService, MilestonesService],
})
export class ProjectsModule {}
