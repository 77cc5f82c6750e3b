import { runBuilt } from './lib/run.mjs';

await runBuilt('tools/pictures/main.js');
