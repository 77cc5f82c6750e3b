export { MilestonesService, type NewMilestone } from './milestones.service.js';
export { ProjectsModule } from './projects.module.js';
export { type NewProject, ProjectsService } from './projects.service.js';
export type { MilestoneView, ProjectView } from './views.js';
