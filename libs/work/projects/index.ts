export { ProjectsModule } from './projects.module.js';
