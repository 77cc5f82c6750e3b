import { runBuilt } from './lib/run.mjs';

// These commands use the files as built: they must not wait for, or fail by, sources that have
// changed since.
const asItIs = ['stop', 'status'].includes(process.argv[2]);
await runBuilt('tools/start/main.js', { asItIs });
