import { runBuilt } from './lib/run.mjs';

await runBuilt('tools/start/main.js');
