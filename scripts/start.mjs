import { runBuilt } from './lib/run.mjs';

// What runs was started from what is built: neither may wait for, or fail by, sources that have changed since.
const asItIs = ['stop', 'status'].includes(process.argv[2]);
await runBuilt('tools/start/main.js', { asItIs });
