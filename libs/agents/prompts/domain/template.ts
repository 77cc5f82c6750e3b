import Mustache from 'mustache';
import { cut } from '#lib/kernel';
import { ALWAYS_TOLD } from './default-template.js';
import { type PromptFacts, type Section, SECTION_NAMES, sectionsOf } from './sections.js';

/** Maximum of a template in characters. */
export const MAX_TEMPLATE = 20_000;
/** Maximum of a prompt in characters. */
export const MAX_PROMPT = 400_000;
/** A template inserts a section at most so often, which bounds the size of its prompts. */
const MAX_INSERTIONS = 3;
const MAX_WHY = 200;
const LEFT_OUT = '\n[The rest of the prompt is left out]';

type Token = [type: string, value: string, start: number, end: number, children?: Token[]];

/**
 * Examines a template of Mustache: text with `{{section}}`, and with `{{#section}}…{{/section}}` and
 * `{{^section}}…{{/section}}` for text that depends on the presence of a section.
 *
 * @returns why it cannot be used, or undefined
 */
export function errorInTemplate(template: string): string | undefined {
  let tokens: Token[];
  try {
    tokens = parse(template);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return cut(`cannot be read: ${why}`, MAX_WHY);
  }
  const insertions = new Map<string, number>();
  for (const [type, name] of allOf(tokens)) {
    if (type === 'text' || type === '!') continue;
    if (type === '>') return 'must have no partials';
    if (type === '=') return 'must not change the delimiters';
    if (!SECTION_NAMES.some((section) => section === name)) {
      const known = SECTION_NAMES.join(', ');
      return `has the unknown placeholder "${cut(name, MAX_WHY)}"; use ${known}`;
    }
    if (type === '#' || type === '^') continue;
    const times = (insertions.get(name) ?? 0) + 1;
    if (times > MAX_INSERTIONS) return `must insert ${name} at most ${MAX_INSERTIONS} times`;
    insertions.set(name, times);
  }
  return undefined;
}

/**
 * The prompt of a task by a template without errors. A template that inserts nothing of the task
 * gives its title. Words of people and tool calls that it does not insert follow it: an agent that
 * does not know them repeats work.
 */
export function renderPrompt(template: string, facts: PromptFacts): string {
  const sections = sectionsOf(facts);
  // Mustache finds a name on every prototype, and calls functions.
  const view = Object.assign(Object.create(null) as object, sections);
  for (const name of SECTION_NAMES) {
    if (sections[name].trim() === '') Object.assign(view, { [name]: '' });
  }
  const render = (one: string): string =>
    new Mustache.Writer().render(one, view, undefined, { escape: String }).trim();
  const text = render(template) || sections.title;
  const missing = Object.entries(ALWAYS_TOLD).filter(
    ([name]) => !text.includes(sections[name as Section].trim()),
  );
  return [text, ...missing.map(([, one]) => render(one))].join('\n\n');
}

/** The prompt with its maximum length. Secrets are hidden before, which can lengthen it. */
export function fitPrompt(prompt: string): string {
  if (prompt.length <= MAX_PROMPT) return prompt;
  return `${cut(prompt, MAX_PROMPT - LEFT_OUT.length)}${LEFT_OUT}`;
}

/** The templates of tenants would fill the cache of a shared writer. */
function parse(template: string): Token[] {
  return new Mustache.Writer().parse(template) as Token[];
}

function allOf(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) => {
    const children = token[4];
    return Array.isArray(children) ? [token, ...allOf(children)] : [token];
  });
}
