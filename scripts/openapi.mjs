import { runBuilt } from './lib/run.mjs';

await runBuilt('tools/openapi/main.js');
