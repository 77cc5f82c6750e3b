export { RuntimeViewsModule } from './runtime-views.module.js';
