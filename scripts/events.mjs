import { runBuilt } from './lib/run.mjs';

await runBuilt('tools/events/main.js');
