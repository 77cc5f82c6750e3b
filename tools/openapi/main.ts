import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../shared/project.js';
import { clientTypes, keyedPosts } from './client-types.js';
import { openApiDocument } from './document.js';
import { lintOpenApi } from './lint.js';

// Lints the OpenAPI document and writes what the client has of it, or says with `--check` that that is stale; each
// problem is a line, and any is a failure.
const folder = 'libs/clients/api-client/generated';

const document = await openApiDocument();
const problems = await lintOpenApi(document);
const files = { 'api.ts': await clientTypes(document), 'keyed.ts': keyedPosts(document) };
for (const [name, text] of Object.entries(files)) {
  const path = join(projectRoot, folder, name);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text)
    problems.push(`${folder}/${name} is stale: run npm run openapi`);
}
for (const problem of problems) console.error(problem);
// What was made to be asked would keep the process.
process.exit(problems.length === 0 ? 0 : 1);
