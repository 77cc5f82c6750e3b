import { createHash } from 'node:crypto';
import { messageOf } from '#lib/agent-host';
import type { PermissionRequest } from '#lib/agent-kinds';
import { decidePermission, type PermissionRule } from '#lib/kernel';
import type { EntryLevel, Question, RunMessage } from '../api/types.js';
import type { JobReports } from '../execution/job.js';

/** The time for a person to decide. Then the answer is no. */
const DEADLINE_SECONDS = 86_400;
/** An agent can ask for no more permissions at once. */
const MAX_WAITING = 20;
/** The maximum of each part of a question, in characters. */
const MAX_TITLE = 500;
const MAX_SUBJECT = 2_000;
const MAX_DETAILS = 1_500;

const ONCE = 'allow once';
const FOR_THIS_RUN = 'allow for this run';
const DENY = 'deny';

/** The words for the uses that `FOR_THIS_RUN` allows. */
const SCOPES: Record<PermissionRequest['category'], string> = {
  shell: 'this command',
  edit: 'changes of these files',
  read: 'reading of these files',
  other: 'this use of the tool',
};

const BY_RULE = 'The rules of this task do not allow this.';
const BY_PERSON = 'A person denied this.';
const BY_DEADLINE = `Nobody answered within ${DEADLINE_SECONDS / 3_600} h.`;
/** The sender of an answer after the deadline. */
const COORDINATOR = 'coordinator';
const BY_NUMBER = `At most ${MAX_WAITING} permissions can wait for people.`;

export interface PermissionParts {
  rules: readonly PermissionRule[];
  mode: 'auto' | 'ask' | 'read-only';
  report: Pick<JobReports, 'ask' | 'cancelQuestion'>;
  /** The text without the secrets of the run. */
  redact: (text: string) => string;
  note: (level: EntryLevel, text: string) => void;
  /** Tells the program. */
  decide: (id: string, decision: 'allow' | 'deny', why?: string) => void;
}

/** A request as far as people see it. Its input can be large. */
interface Waiting {
  id: string;
  title: string;
  /** The uses that a permission for the run covers. */
  key: string;
  question: Question;
}

type Answer = Pick<RunMessage, 'text' | 'sender'>;

interface Asked {
  request: Waiting;
  /** Undefined until the server has the question. */
  questionId?: string;
  /** The program no longer waits for it. */
  isClosed: boolean;
}

/**
 * Decides about the tools that an agent asks to use: by the rules of its task, or by a question to
 * people. It asks one question at a time, and the agent waits.
 */
export class RunPermissions {
  private readonly waiting: Waiting[] = [];
  private asked: Asked | undefined;
  private readonly allowed = new Set<string>();
  /** Answers that were faster than the server's answer to their question. */
  private readonly early = new Map<string, Answer>();

  constructor(private readonly parts: PermissionParts) {}

  /** The agent asks for a permission. */
  request(request: PermissionRequest): void {
    const { rules, mode, note, decide } = this.parts;
    const decided = decidePermission(rules, mode, request);
    const isAllowed = decided === 'ask' && this.allowed.has(keyOf(request));
    const decision = isAllowed ? 'allow' : decided;
    if (decision === 'allow') return decide(request.id, 'allow');
    if (decision === 'deny') {
      note('WARN', `Denied by a rule: ${request.title}`);
      return decide(request.id, 'deny', BY_RULE);
    }
    if (this.waiting.length >= MAX_WAITING) {
      note('WARN', `Denied, since too many permissions wait: ${request.title}`);
      return decide(request.id, 'deny', BY_NUMBER);
    }
    note('INFO', `Permission asked: ${request.title}`);
    const { id, title } = request;
    const shown = { id, title: shortened(title, MAX_TITLE), key: keyOf(request) };
    this.waiting.push({ ...shown, question: this.questionOf(request) });
    this.next();
  }

  /** The program no longer waits for a decision. */
  close(id: string): void {
    const index = this.waiting.findIndex((request) => request.id === id);
    if (index !== -1) this.waiting.splice(index, 1);
    if (this.asked?.request.id !== id) return;
    this.asked.isClosed = true;
    this.withdraw(this.asked);
  }

  /** A person has answered, or the deadline has passed. */
  answer(questionId: string, answer: Answer): void {
    const { asked } = this;
    if (asked === undefined) return;
    if (asked.questionId === undefined) this.early.set(questionId, answer);
    else if (asked.questionId === questionId && !asked.isClosed) this.settle(asked, answer);
  }

  private next(): void {
    if (this.asked !== undefined) return;
    const request = this.waiting.shift();
    if (request === undefined) return;
    const asked: Asked = { request, isClosed: false };
    this.asked = asked;
    this.parts.report.ask(request.question).then(
      ({ id }) => this.isAsked(asked, id),
      (error: unknown) => this.cannotAsk(asked, error),
    );
  }

  private isAsked(asked: Asked, id: string): void {
    asked.questionId = id;
    const answer = this.early.get(id);
    this.early.clear();
    if (asked.isClosed) this.withdraw(asked);
    else if (answer !== undefined) this.settle(asked, answer);
  }

  private cannotAsk({ request, isClosed }: Asked, error: unknown): void {
    const why = `Nobody can be asked: ${messageOf(error)}`;
    if (!isClosed) {
      this.parts.note('WARN', why);
      this.parts.decide(request.id, 'deny', why);
    }
    this.done();
  }

  private settle({ request }: Asked, { text, sender }: Answer): void {
    const { note, decide } = this.parts;
    const isAllowed = text === ONCE || text === FOR_THIS_RUN;
    const isLate = sender === COORDINATOR;
    if (text === FOR_THIS_RUN) this.allowed.add(request.key);
    if (isLate) note('WARN', `Permission denied, since nobody answered: ${request.title}`);
    else note('INFO', `Permission answered with "${text}": ${request.title}`);
    if (isAllowed) decide(request.id, 'allow');
    else decide(request.id, 'deny', isLate ? BY_DEADLINE : BY_PERSON);
    this.done();
  }

  /** The next question waits for it, because it could have the same words. */
  private withdraw({ questionId }: Asked): void {
    if (questionId === undefined) return;
    const done = () => this.done();
    this.parts.report.cancelQuestion().then(done, done);
  }

  private done(): void {
    this.asked = undefined;
    this.next();
  }

  private questionOf(request: PermissionRequest): Question {
    const { tool, category, subjects } = request;
    const prompt = [
      `The agent asks to use ${this.readable(tool)}:`,
      shortened(this.readable(subjects.join('\n')), MAX_SUBJECT),
      shortened(this.readable(detailsOf(request)), MAX_DETAILS),
      `"${FOR_THIS_RUN}" allows ${SCOPES[category]} until the run ends.`,
    ];
    return {
      prompt: prompt.filter((part) => part !== '').join('\n\n'),
      choices: [ONCE, FOR_THIS_RUN, DENY],
      deadlineSeconds: DEADLINE_SECONDS,
      onDeadline: 'default',
      default: DENY,
    };
  }

  /** Without secrets and control characters. Those that reorder a line are escaped. */
  private readable(text: string): string {
    const hidden = this.parts.redact(text.replaceAll(/[^\P{Cc}\t\n]/gu, '').toWellFormed());
    return hidden.replaceAll(/\p{Bidi_Control}/gu, escaped);
  }
}

/** The uses that a permission for the run covers: those of the tool for the same command or files. */
function keyOf({ tool, category, subjects }: PermissionRequest): string {
  const uses = JSON.stringify([tool, category, ...subjects]);
  return createHash('sha256').update(uses).digest('base64');
}

/** The changes, or the input of a tool whose subject does not tell it. */
function detailsOf({ category, input, diffs = [] }: PermissionRequest): string {
  const shown = diffs.filter(({ diff }) => diff !== '');
  if (shown.length > 0) return shown.map(({ path, diff }) => `${path}\n${diff}`).join('\n');
  return category === 'shell' ? '' : JSON.stringify(input, undefined, 2);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max).toWellFormed();
  return `${kept}\n[${text.length - max} more characters]`;
}
