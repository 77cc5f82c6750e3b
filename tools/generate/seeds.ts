import type { FoundingDocument, Promised, Section } from '../../test/seeds/promise.js';
import { DOCUMENTS } from '../../test/seeds/promises/index.js';
import { aligned } from '../shared/table.js';
import type { Generated } from './generated.js';

const HEAD = `# The founding documents

Five documents described an orchestrator of agents before Drover was built: their requests, rows,
keys, states and commands. Drover is one program for the clients of all five.

This page lists their promises. \`npm run generate\` writes it from the list that the tests in
[test/seeds](../test/seeds/README.md) use. Another test proves a promise if the last column names its file.

- **holds**: the promise is kept word for word. Ids, hosts and tokens are Drover's.
- **differs**: Drover decides otherwise, because the documents contradict each other or a safer way
  exists. The table says how, and a test proves it.
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
  const rows = promisesOf(section).map(({ says, state, here, provenBy }) => [
    escaped(says),
    state,
    escaped(here),
    provenBy ? `\`${provenBy.file}\`` : '',
  ]);
  return `### ${section.title}\n\n${aligned([['promise', 'state', 'Drover', 'test'], ...rows])}`;
}

function promisesOf({ promises }: Section): Promised[] {
  return Object.values(promises);
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|');
}
