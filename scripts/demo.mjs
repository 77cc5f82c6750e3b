import { runBuilt } from './lib/run.mjs';

await runBuilt('tools/demo/main.js');
