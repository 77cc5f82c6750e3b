import { projectFiles, runJob, tally, number, partOf } from './support.js';

await runJob('list', ({ root }) => {
  const { files, by } = projectFiles(root);
  const parts = tally(files.map(partOf));
  return { summary: `${number(files.length)} files, listed by ${by}`, files, parts };
});
