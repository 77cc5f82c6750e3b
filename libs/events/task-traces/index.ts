export { TracesModule } from './traces.module.js';
