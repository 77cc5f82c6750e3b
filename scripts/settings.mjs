import { runBuilt } from './lib/run.mjs';

await runBuilt('tools/settings/main.js');
