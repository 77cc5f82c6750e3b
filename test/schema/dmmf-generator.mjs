// A generator for `prisma generate` that writes Prisma's own view of the schema to a file.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const MANIFEST = { prettyName: 'data model', defaultOutput: 'data-model.json' };

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'generate') {
    writeFileSync(params.generator.output.value, JSON.stringify(params.dmmf.datamodel));
  }
  const result = method === 'getManifest' ? { manifest: MANIFEST } : null;
  // Prisma's protocol sends answers on standard error.
  process.stderr.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
