export { StreamsModule } from './streams.module.js';
