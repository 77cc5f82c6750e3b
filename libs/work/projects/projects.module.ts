import { Module } from '@nestjs/common';
import { MilestonesController } from './http/milestones.controller.js';
import { ProjectsController } from './http/projects.controller.js';
import { MilestonesService } from './milestones/milestones.service.js';
import { ProjectsService } from './projects/projects.service.js';

/** Projects and milestones: what tasks may name, and budgets are given to. */
@Module({
  controllers: [ProjectsController, MilestonesController],
  providers: [ProjectsService, MilestonesService],
  exports: [ProjectsService, MilestonesService],
})
export class ProjectsModule {}
