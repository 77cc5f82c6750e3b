import { runBuilt } from './lib/run.mjs';

await runBuilt('test/faults/chaos/main.js');
