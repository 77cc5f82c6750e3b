import { cut } from '#lib/kernel';
import {
  type ChangeFacts,
  describeChange,
  describeFailedProof,
  describeFeedback,
} from './change-sections.js';
import { fenced } from './fenced.js';
import {
  callsAfter,
  type CallsUpTo,
  type ConversationEntry,
  conversationOf,
} from './past-calls.js';

/** The sections of a prompt, by the placeholders of a template, with their descriptions. */
export const SECTIONS = {
  title: 'the title of the task, or of the finished one that it continues',
  description: 'the description of the task',
  instructions: 'the instructions for the agent',
  steps: 'the steps as a numbered list',
  deliverables: 'the expected results as a list',
  acceptance: 'the conditions for the result as a list',
  input: 'the input of the task as JSON',
  dependencies: 'the tasks that the task depended on, with their results',
  repository: 'the repository of the task: its branch, and how the change is proven',
  feedback: 'the failed acceptance, the review or the conflict for which the work came back',
  runs: 'the earlier runs of the task, and the reasons for their ends',
  checkpoint: 'the checkpoint of the last run as JSON',
  answers: 'the answers of people to questions of earlier runs',
  messages:
    'the messages of people that no earlier run received, or that a resumed conversation may lack',
  conversation: 'the end of the conversations of earlier runs, with their tool calls',
  calls: 'the last tool calls of earlier runs that the resumed conversation may lack',
  lost: 'the files of the last run that no longer exist, as a list',
  continuation: 'the words with which a person continues a finished task, instead of instructions',
} as const;
export type Section = keyof typeof SECTIONS;
export const SECTION_NAMES = Object.keys(SECTIONS) as Section[];

/** Maximum of one section in characters. */
const MAX_SECTION = 100_000;
/** Maximum of one dependency's result in characters. */
export const MAX_RESULT = 4_000;

export const BEGINNINGS = ['new', 'resumed', 'continued'] as const;
/**
 * The conversation that the prompt begins: a new one, that of the task's last run, or that of the
 * finished task that the task continues.
 */
export type Beginning = (typeof BEGINNINGS)[number];

export interface PastRun {
  number: number;
  endedAt: string;
  endReason: string | null;
  error: string | null;
  errorClass: string | null;
  branch: string | null;
  exitCode: number | null;
  /** The end of the output of a failed acceptance. */
  output: string | null;
}

export interface Prerequisite {
  id: string;
  title: string;
  status: string;
  summary: string | null;
  /** The start of its JSON. */
  result: string | null;
}

export interface PastMessage {
  type: string;
  text: string;
  data: unknown;
  /** An earlier run received it, and the conversation may lack it. */
  isDelivered: boolean;
}

/** The facts about a task and its past that a prompt can tell. None has secrets. */
export interface PromptFacts {
  title: string;
  description: string | null;
  instructions: string | null;
  steps: readonly string[];
  deliverables: readonly string[];
  acceptance: readonly string[];
  /** The commands that prove the result. */
  acceptanceScript: string | null;
  inputContext: object;
  checkpointData: object;
  /** The finished task that the task continues. */
  continued: { title: string; summary: string | null } | null;
  /** The repository that the task changes. */
  change: ChangeFacts | null;
  answers: readonly { prompt: string; answer: string }[];
  prerequisites: readonly Prerequisite[];
  /** Oldest first. */
  runs: readonly PastRun[];
  /** Oldest first. */
  messages: readonly PastMessage[];
  /** The last ones of earlier runs, and of the task that the task continues. Oldest first. */
  entries: readonly ConversationEntry[];
  beginning: Beginning;
  /** The tool calls that the conversation of an earlier run surely has. */
  upTo?: CallsUpTo;
  /** Files of the last run's working folder that the next run does not have. */
  lostFiles: readonly string[];
}

/** The text of each section; an empty one is absent from the prompt. */
export function sectionsOf(facts: PromptFacts): Record<Section, string> {
  const { entries, upTo, continued } = facts;
  const isNew = facts.beginning === 'new';
  const instructions = facts.instructions ?? '';
  const isContinued = continued !== null && instructions.trim() !== '';
  const sections: Record<Section, string> = {
    title: isContinued ? continued.title : facts.title,
    description: facts.description ?? '',
    instructions: isContinued ? '' : instructions,
    steps: facts.steps.map((step, index) => `${index + 1}. ${step}`).join('\n'),
    deliverables: listed(facts.deliverables),
    acceptance: describeAcceptance(facts),
    input: jsonOf(facts.inputContext),
    dependencies: facts.prerequisites.map(describePrerequisite).join('\n\n'),
    repository: facts.change === null ? '' : describeChange(facts.change),
    feedback: facts.change === null ? describeRedRun(facts.runs) : describeFeedback(facts.change),
    runs: facts.runs.map(describeRun).join('\n'),
    checkpoint: jsonOf(facts.checkpointData),
    answers: facts.answers
      .map(({ prompt, answer }) => `- ${prompt}\n  Answer: ${answer}`)
      .join('\n'),
    messages: facts.messages.map(describeMessage).join('\n\n'),
    conversation: isNew ? conversationOf(entries) || (continued?.summary ?? '') : '',
    calls: isNew ? '' : callsAfter(entries, upTo),
    lost: listed(facts.lostFiles.map((name) => JSON.stringify(name))),
    // A run can end before its program has written down the first words of its conversation.
    continuation: isContinued ? noted(instructions, facts.beginning === 'resumed') : '',
  };
  for (const name of SECTION_NAMES) sections[name] = shorten(sections[name]);
  return sections;
}

function describeAcceptance({ acceptance, acceptanceScript }: PromptFacts): string {
  const parts = [listed(acceptance)];
  if (acceptanceScript !== null) {
    parts.push('These commands prove your files in a clean sandbox when you are done:');
    parts.push(fenced(acceptanceScript, 'bash'));
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The output of the last failed acceptance. */
function describeRedRun(runs: readonly PastRun[]): string {
  const red = runs.findLast(({ errorClass }) => errorClass === 'acceptance_failed');
  return red === undefined ? '' : describeFailedProof(red.output ?? '', red.exitCode);
}

function describePrerequisite({ title, status, summary, result }: Prerequisite): string {
  const parts = [`### ${oneLine(title)} (${status})`, summary ?? ''];
  if (result !== null) {
    parts.push(fenced(cut(result, MAX_RESULT), 'json'));
  }
  return parts.filter((part) => part.trim() !== '').join('\n\n');
}

function describeRun(run: PastRun): string {
  const { number, endedAt, endReason, error, errorClass, branch } = run;
  const facts = [
    `- Run ${number} ended at ${endedAt}: ${endReason ?? 'unknown reason'}`,
    error === null ? '' : `${errorClass ?? 'error'}: ${oneLine(error)}`,
    branch === null ? '' : `branch ${branch}`,
  ];
  return facts.filter((fact) => fact !== '').join('; ');
}

function describeMessage({ type, text, data, isDelivered }: PastMessage): string {
  const words = type === 'message' ? text : `[${type}] ${text}`;
  return [noted(words, isDelivered), jsonOf(data)].filter((part) => part !== '').join('\n\n');
}

function noted(words: string, isRepeated: boolean): string {
  return isRepeated ? `Your conversation may have this message already:\n\n${words}` : words;
}

function listed(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

function jsonOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return '';
  return fenced(shorten(JSON.stringify(value, undefined, 2)), 'json');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function shorten(text: string): string {
  return text.length <= MAX_SECTION ? text : `${cut(text, MAX_SECTION)}\n[The rest is left out]`;
}
