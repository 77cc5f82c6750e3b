import { runBuilt } from './lib/run.mjs';

await runBuilt('test/load/main.js');
