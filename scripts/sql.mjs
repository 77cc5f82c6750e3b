import { runBuilt } from './lib/run.mjs';

await runBuilt('tools/sql/main.js');
