import { runBuilt } from './lib/run.mjs';

await runBuilt('test/agents/main.js');
