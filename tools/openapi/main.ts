import { openApiDocument } from './document.js';
import { lintOpenApi } from './lint.js';

// Lints the OpenAPI document; each problem is a line, and any is a failure.
const problems = await lintOpenApi(await openApiDocument());
for (const problem of problems) console.error(problem);
// What was made to be asked would keep the process.
process.exit(problems.length === 0 ? 0 : 1);
