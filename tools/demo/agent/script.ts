import type { Conversation, Script, Turn } from '../../../test/support/model-server/index.js';

export const FILE = 'haiku.txt';
export const TITLE = 'Queues';
const HAIKU = 'Tasks wait in a row.\nOne worker falls in the night.\nAnother goes on.\n';

/** The acceptance of the repository. Only a real model heeds it before it is red. */
export const ACCEPTANCE = [
  `title=$(head -n 1 ${FILE})`,
  `if [ "$title" = ${TITLE} ]; then exit; fi`,
  `echo "${FILE} begins with '$title', and not with its title ${TITLE}"`,
  'exit 1',
].join('\n');

/** Its output. The prompt has the script itself as well. */
const RED = new RegExp(`${FILE} begins with '[^$]`);

const NEVER = new Promise<void>(() => undefined);

const WRITE: Turn = { calls: [{ write: FILE, content: HAIKU }] };
const MEND: Turn = { calls: [{ run: `sed -i '1i ${TITLE}' ${FILE} && cat ${FILE}` }] };

/**
 * The answers of a model that writes the poem, says no more until its worker is killed, and gives
 * the poem its title after the red proof. Each step follows from the words of the conversation, because kinds
 * differ in what they repeat of it.
 */
export function writePoem(isKilled: () => boolean): Script {
  return ({ prompt, later, items }: Conversation) => {
    const results = items.filter(({ kind }) => kind === 'result');
    const isRed = RED.test(`${prompt}${later}`);
    const isMended = results.at(-1)?.text.includes(`${TITLE}\n`) === true;
    const beforeChunk = () => (isKilled() ? undefined : NEVER);
    const done = { text: `${FILE} has the haiku.`, beforeChunk };
    const first = results.length === 0 ? WRITE : done;
    const next = isMended ? { text: `${FILE} has its title.` } : MEND;
    // The stand-in takes the turn after as many results.
    return [...results.map(() => MEND), isRed ? next : first];
  };
}

export function isWhole(file: string): boolean {
  return file === `${TITLE}\n${HAIKU}`;
}
