import type { FoundingDocument, Promised, Section } from '../../test/seeds/promise.js';
import { DOCUMENTS } from '../../test/seeds/promises/index.js';
import { aligned } from '../shared/table.js';
import type { Generated } from './generated.js';

/** Maximum length of a line. */
const COLUMNS = 120;

const HEAD = `# The founding documents

Five documents described an orchestrator of agents before Drover was built. Drover is one program for the
clients of all five. This page lists their promises. \`npm run generate\` writes it from the list that the tests in
[test/seeds](../test/seeds/README.md) use. A file in parentheses is another test that proves a promise.

- **holds**: the promise is kept word for word. Ids, hosts and tokens are Drover's. The lists have these
  promises.
- **differs**: Drover decides otherwise, because the documents contradict each other or a safer way
  exists. A test proves what the table says.
- **not yet**: Drover does not keep the promise. A test fails as soon as it does.
`;

/** Returns docs/seeds.md, the promises of the founding documents. */
export function generateSeeds(): Generated {
  const sections = DOCUMENTS.map(chapterOf);
  return { files: { 'docs/seeds.md': [HEAD, summary(), ...sections].join('\n') } };
}

function summary(): string {
  const rows = DOCUMENTS.map((document) => {
    const all = document.sections.flatMap(promisesOf);
    const count = (state: string) => String(all.filter((one) => one.state === state).length);
    return [document.title, count('holds'), count('differs'), count('not yet')];
  });
  return aligned([['document', 'holds', 'differs', 'not yet'], ...rows]);
}

function chapterOf({ title, sections }: FoundingDocument): string {
  return [`## ${title}\n`, ...sections.map(sectionOf)].join('\n');
}

function sectionOf(section: Section): string {
  const kept = promisesOf(section).filter(({ state, here }) => state === 'holds' && !here);
  const others = promisesOf(section).filter((one) => !kept.includes(one));
  const parts = [`### ${section.title}\n`];
  if (kept.length > 0) parts.push(`${kept.map(lineOf).join('\n')}\n`);
  if (others.length > 0) {
    const rows = others.map((one) => [escaped(one.says), one.state, hereOf(one)]);
    parts.push(aligned([['promise', 'state', 'Drover'], ...rows]));
  }
  return parts.join('\n');
}

function lineOf({ says, provenBy }: Promised): string {
  return wrapped(`- ${says}${provenBy ? ` (\`${provenBy.file}\`)` : ''}`);
}

/** Breaks the line of a list at spaces, like the other pages. */
function wrapped(line: string): string {
  const lines = [''];
  for (const word of line.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= COLUMNS) lines.push(`  ${word}`);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join('\n');
}

function hereOf({ here, provenBy }: Promised): string {
  return [escaped(here), provenBy ? `(\`${provenBy.file}\`)` : ''].filter(Boolean).join(' ');
}

function promisesOf({ promises }: Section): Promised[] {
  return Object.values(promises);
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|');
}
