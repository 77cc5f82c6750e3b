import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listedFiles, readText, runJob } from './support.js';

await runJob('links', (context) => {
  const pages = listedFiles(context).filter((path) => path.endsWith('.md'));
  const broken: string[] = [];
  let links = 0;
  for (const page of pages) {
    const text = readText(context, page).replace(/```.*?```/gs, '');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const file = decodeURI(target.split('#')[0] ?? '');
      if (file === '' || /^[a-z]+:/i.test(file)) continue;
      links += 1;
      if (!existsSync(join(context.root, dirname(page), file))) broken.push(`${page}: ${target}`);
    }
  }
  return {
    summary: `${pages.length} pages, ${links} links between them, ${broken.length} broken`,
    broken,
  };
});
