import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../shared/project.js';
import { clientTypes } from './client-types.js';
import { openApiDocument } from './document.js';
import { lintOpenApi } from './lint.js';

// Lints the OpenAPI document and writes the types of the client, or says with `--check` that they are stale; each
// problem is a line, and any is a failure.
const TYPES = join(projectRoot, 'libs', 'api-client', 'generated', 'api.ts');

const document = await openApiDocument();
const problems = await lintOpenApi(document);
const types = await clientTypes(document);
if (!process.argv.includes('--check')) writeFileSync(TYPES, types);
else if (readFileSync(TYPES, 'utf8') !== types)
  problems.push('libs/api-client/generated/api.ts is stale: run npm run openapi');
for (const problem of problems) console.error(problem);
// What was made to be asked would keep the process.
process.exit(problems.length === 0 ? 0 : 1);
