// Makes the npm packages of Drover in dist/packages.
import { ensureReady } from './ensure.mjs';
import { buildPackages } from './lib/packages.mjs';

await ensureReady();
for (const file of await buildPackages()) process.stdout.write(`${file}\n`);
