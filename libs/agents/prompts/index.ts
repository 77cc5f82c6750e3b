export { PromptsModule } from './prompts.module.js';
