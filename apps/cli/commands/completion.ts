import { COMMON_OPTIONS, type Commands, type CommandSpec, isGroup } from '../command.js';
import { usageError } from '../failure.js';
import { type Entry, commandName } from '../program.js';

/** Completions by the preceding one or two words. They come from the command table. */
type Words = Map<string, string[]>;

const SHELLS = { bash, zsh, fish };

/** @param entries all first words, including this command */
export const createCompletion = (entries: readonly Entry[]): Commands => ({
  completion: {
    usage: 'completion <shell>',
    summary: 'Print shell completions for bash, zsh or fish',
    examples: [
      'completion bash > ~/.local/share/bash-completion/completions/drover',
      'completion zsh > "${fpath[1]}/_drover"',
      'completion fish > ~/.config/fish/completions/drover.fish',
    ],
    run: async (cli, [name = '']) => {
      const shell = SHELLS[name as keyof typeof SHELLS];
      if (shell === undefined) throw usageError(`Unknown shell: ${name}. Use bash, zsh or fish.`);
      cli.out.line(shell(await collectWords(entries)));
    },
  },
});

async function collectWords(entries: readonly Entry[]): Promise<Words> {
  const found: Words = new Map([['', entries.map(({ name }) => name)]]);
  for (const { name, load } of entries) {
    const entry = (await load()).default[name];
    if (entry === undefined) continue;
    if (!isGroup(entry)) {
      found.set(name, listOptionNames(entry));
      continue;
    }
    found.set(name, entry.commands.map(commandName));
    for (const spec of entry.commands)
      found.set(`${name} ${commandName(spec)}`, listOptionNames(spec));
  }
  return found;
}

function listOptionNames({ options = [] }: CommandSpec): string[] {
  return [...options, ...COMMON_OPTIONS].map(([flags]) => /--[\w-]+/.exec(flags)?.[0] ?? '');
}

function bash(found: Words): string {
  const cases = [...found].map(([at, list]) => `    '${at}') words='${list.join(' ')}' ;;`);
  return `# drover completion bash
_drover() {
  local at='' words=''
  [ "$COMP_CWORD" -ge 2 ] && at="\${COMP_WORDS[1]}"
  [ "$COMP_CWORD" -ge 3 ] && case "\${COMP_WORDS[2]}" in -*) ;; *) at="$at \${COMP_WORDS[2]}" ;; esac
  case "$at" in
${cases.join('\n')}
    *) at="\${COMP_WORDS[1]}"; words='' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _drover drover`;
}

function zsh(found: Words): string {
  const cases = [...found].map(([at, list]) => `    '${at}') compadd -- ${list.join(' ')} ;;`);
  return `#compdef drover
_drover() {
  local at=''
  (( CURRENT >= 3 )) && at="\${words[2]}"
  (( CURRENT >= 4 )) && [[ "\${words[3]}" != -* ]] && at="$at \${words[3]}"
  case "$at" in
${cases.join('\n')}
    *) _files ;;
  esac
}
_drover "$@"`;
}

function fish(found: Words): string {
  const lines = [...found].flatMap(([at, list]) => {
    const [first, second] = at.split(' ');
    const when = !first
      ? '__fish_use_subcommand'
      : [first, second]
          .filter(Boolean)
          .map((word) => `__fish_seen_subcommand_from ${word}`)
          .join('; and ');
    return list.map((word) =>
      word.startsWith('--')
        ? `complete -c drover -n '${when}' -l ${word.slice(2)}`
        : `complete -c drover -f -n '${when}' -a '${word}'`,
    );
  });
  return lines.join('\n');
}
