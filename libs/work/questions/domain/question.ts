import { DroverError, type FieldError } from '#lib/kernel';

export const QUESTION_STATUSES = ['open', 'answered', 'expired', 'cancelled'] as const;
export type QuestionStatus = (typeof QUESTION_STATUSES)[number];

export const ON_DEADLINE = ['default', 'fail'] as const;
export type OnDeadline = (typeof ON_DEADLINE)[number];

/** In characters. */
export const MAX_PROMPT = 4_000;
export const MAX_CHOICE = 500;
export const MAX_ANSWER = 4_000;
export const MAX_CHOICES = 20;
/** 90 days. */
export const MAX_WAIT_SECONDS = 7_776_000;
/** For one task. Defaults that apply at once would let it run forever without counting an attempt. */
export const MAX_QUESTIONS = 100;
/** Questions for whose answers runs wait, for one task: permissions of a coding agent. */
export const MAX_WAITED_FOR = 1_000;

/** A question as a run asks it. */
export interface QuestionRequest {
  prompt: string;
  choices?: string[];
  /** Default: true only without choices. */
  freeText?: boolean;
  /** Exactly one of the two. */
  deadlineSeconds?: number;
  deadlineAt?: string;
  onDeadline: OnDeadline;
  default?: string;
  checkpointData?: Record<string, unknown>;
  /** The run stays live and waits for the answer. Default: it ends. */
  runWaits?: boolean;
}

/** The valid answers. */
export interface Answerable {
  choices: readonly string[];
  freeText: boolean;
}

/** The valid answers to a question. @throws DroverError `validation_failed` */
export function answerableOf(request: QuestionRequest, now: number): Answerable {
  const { choices = [], freeText = choices.length === 0 } = request;
  const answerable = { choices, freeText };
  const errors = [
    ...errorsOfChoices(answerable),
    ...errorsOfDeadline(request, now),
    ...errorsOfDefault(request, answerable),
    ...errorsOfCheckpoint(request),
  ];
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
  return answerable;
}

/**
 * @throws DroverError `validation_failed` unless the answer is one of the choices, or any text is
 *   allowed
 */
export function requireAnswer(answer: string, { choices, freeText }: Answerable): void {
  if (freeText || choices.includes(answer)) return;
  const message = `must be one of the choices: ${choices.join(', ')}`;
  throw new DroverError('validation_failed', { errors: [{ field: 'answer', message }] });
}

function errorsOfChoices({ choices, freeText }: Answerable): FieldError[] {
  if (new Set(choices).size < choices.length)
    return [{ field: 'choices', message: 'must all be different' }];
  if (freeText || choices.length > 0) return [];
  return [{ field: 'choices', message: 'must be given where free text is no answer' }];
}

function errorsOfDeadline(request: QuestionRequest, now: number): FieldError[] {
  const { deadlineSeconds, deadlineAt } = request;
  if ((deadlineSeconds === undefined) === (deadlineAt === undefined)) {
    const message = 'must be given, or else `deadlineAt`, and not both';
    return [{ field: 'deadlineSeconds', message }];
  }
  if (deadlineAt === undefined) return [];
  const seconds = (Date.parse(deadlineAt) - now) / 1000;
  if (seconds > 0 && seconds <= MAX_WAIT_SECONDS) return [];
  return [{ field: 'deadlineAt', message: 'must be in the future, by 90 days at most' }];
}

/** No run resumes after a question for whose answer its run waits. */
function errorsOfCheckpoint({ runWaits, checkpointData }: QuestionRequest): FieldError[] {
  if (runWaits !== true || checkpointData === undefined) return [];
  return [{ field: 'checkpointData', message: 'must be left out where the run waits' }];
}

function errorsOfDefault(request: QuestionRequest, answerable: Answerable): FieldError[] {
  const { default: answer, onDeadline, runWaits } = request;
  if (runWaits === true && onDeadline !== 'default')
    return [{ field: 'onDeadline', message: 'must be default where the run waits' }];
  if (answer === undefined) {
    if (onDeadline === 'fail') return [];
    return [{ field: 'default', message: 'must be given where the deadline makes it the answer' }];
  }
  if (answerable.freeText || answerable.choices.includes(answer)) return [];
  return [{ field: 'default', message: 'must be one of the choices' }];
}
