/** The parts of a task that its agent is told. */
export interface Brief {
  id: string;
  title: string;
  description?: string | null;
  instructions?: string | null;
  steps?: readonly string[];
  deliverables?: readonly string[];
  acceptance?: readonly string[];
  /** The input of the task, without its secrets. */
  inputContext?: object | null;
  /** Answers of people to earlier questions, oldest first. */
  answers?: readonly { prompt: string; answer: string }[];
}

/** What an earlier run left for one that starts a new conversation. */
export interface Handover {
  /** The checkpoint of the task, without the state of an agent. */
  checkpoint?: object;
  /** The end of the earlier conversation, as text. */
  transcript?: string;
  /** Why the earlier run ended. */
  ended?: string;
  /** Files of the earlier run's working folder that were not kept. */
  lost?: readonly string[];
}

/** A message of a person to a running agent. */
export interface MessageToAgent {
  /** `message`, or a type that the agent sees. */
  type: string;
  text: string;
  data?: object | null;
}

/** The first words to an agent that starts a task. */
export function composePrompt(brief: Brief, handover: Handover = {}): string {
  const { title, description, instructions, steps, deliverables, acceptance } = brief;
  return joined([
    `# ${title}`,
    description,
    section('Instructions', instructions),
    section('Steps', numbered(steps)),
    section('Deliverables', listed(deliverables)),
    section('Acceptance', listed(acceptance)),
    section('Input', jsonOf(brief.inputContext)),
    section('Answers of people', answersIn(brief)),
    section('Earlier run', joined([handover.ended, jsonOf(handover.checkpoint)])),
    section('End of the earlier conversation', handover.transcript),
    lostFiles(handover),
    CLOSING,
  ]);
}

/**
 * The words to an agent that continues its own conversation, or a finished one whose end is in
 * `transcript`. A person who continues it gives `request`.
 */
export function composeContinuation(
  brief: Brief,
  { request, ...handover }: Handover & { request?: string } = {},
): string {
  const { ended, transcript } = handover;
  const interrupted = `Your session was interrupted${ended === undefined ? '' : ` (${ended})`}. Continue where you stopped.`;
  const finished = `You have worked on "${brief.title}" before. A person continues your conversation:`;
  return joined([
    request === undefined ? interrupted : `${finished}\n\n${request}`,
    'Do not repeat steps that you have finished. Check the files before you change them.',
    section('Answers of people', answersIn(brief)),
    section('End of the earlier conversation', transcript),
    lostFiles(handover),
    request === undefined ? undefined : CLOSING,
  ]);
}

/** The words of a message to an agent. A plain message is its text. */
export function composeMessage({ type, text, data }: MessageToAgent): string {
  return joined([type === 'message' ? text : `[${type}] ${text}`, jsonOf(data)]);
}

/** The number of lost files that an agent is told by name. */
const MAX_LOST = 100;

const CLOSING = 'When you are done, end with a short summary of the results.';

function joined(parts: readonly (string | null | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined && part !== null && part.trim() !== '')
    .join('\n\n');
}

function section(title: string, text: string | null | undefined): string | undefined {
  return text === undefined || text === null || text.trim() === ''
    ? undefined
    : `## ${title}\n\n${text}`;
}

function numbered(items: readonly string[] = []): string {
  return items.map((item, index) => `${index + 1}. ${item}`).join('\n');
}

function listed(items: readonly string[] = []): string {
  return items.map((item) => `- ${item}`).join('\n');
}

function lostFiles({ lost = [] }: Handover): string | undefined {
  const shown = lost.slice(0, MAX_LOST).map((name) => JSON.stringify(name));
  const more = lost.length - shown.length;
  if (more > 0) shown.push(`${more} more`);
  return section('Files that no longer exist in the working folder', listed(shown));
}

function jsonOf(value: object | null | undefined): string | undefined {
  if (value === undefined || value === null || Object.keys(value).length === 0) return undefined;
  return `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``;
}

function answersIn({ answers = [] }: Brief): string {
  return answers.map(({ prompt, answer }) => `- ${prompt}\n  Answer: ${answer}`).join('\n');
}
