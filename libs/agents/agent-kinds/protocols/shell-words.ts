/** The shells of the system. Anything elsewhere can be a program of the agent. */
const SHELL = /^(\/bin\/|\/usr\/bin\/)?(ba|da|z)?sh$/;

/** Returns the script of a command `bash -lc SCRIPT`, and any other command as it is. */
export function scriptOf(command: string): string {
  const [shell = '', flag = '', script, ...rest] = wordsOf(command) ?? [];
  const isScript = SHELL.test(shell) && /^-l?c$/.test(flag) && rest.length === 0;
  return isScript && script !== undefined ? script : command;
}

/** One word: unquoted characters, and parts in quotes, next to each other. */
const WORD = /(?:[^\s'"\\]|\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*")+/y;
const PART = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^'"\\]+)/g;

/** Splits a quoted command as a shell does, without expansions. Undefined for an open quote. */
function wordsOf(command: string): string[] | undefined {
  const words: string[] = [];
  let at = 0;
  while (at < command.length) {
    if (/\s/.test(command.charAt(at))) {
      at += 1;
      continue;
    }
    WORD.lastIndex = at;
    const [word] = WORD.exec(command) ?? [];
    if (word === undefined) return undefined;
    words.push(unquoted(word));
    at += word.length;
  }
  return words;
}

function unquoted(word: string): string {
  return word.replaceAll(
    PART,
    (_all, single?: string, double?: string, escaped?: string, bare?: string) =>
      single ?? double?.replaceAll(/\\(["$`\\\n])/g, '$1') ?? escaped ?? bare ?? '',
  );
}
