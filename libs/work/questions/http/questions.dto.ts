import { ApiProperty } from '@nestjs/swagger';
import { Flag, Id, Int, JsonObject, OneOf, PageQuery, Text, TextList, Timestamp } from '#lib/http';
import {
  ShownFlag,
  ShownId,
  ShownInt,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTexts,
  ShownTime,
  ShownTimeOrNull,
} from '#lib/task-manager';
import {
  MAX_ANSWER,
  MAX_CHOICE,
  MAX_CHOICES,
  MAX_PROMPT,
  MAX_WAIT_SECONDS,
  ON_DEADLINE,
  type OnDeadline,
  QUESTION_STATUSES,
  type QuestionRequest,
  type QuestionStatus,
} from '../domain/question.js';
import type { QuestionView } from '../answering/question-view.js';

export class AskQuestionDto implements QuestionRequest {
  @Text({ max: MAX_PROMPT, description: 'The question, for people' }) prompt!: string;

  @TextList({
    item: { max: MAX_CHOICE },
    maxItems: MAX_CHOICES,
    optional: true,
    description: 'The answers to choose from',
  })
  choices?: string[];

  @Flag({
    optional: true,
    description:
      'Whether an answer can be another text. By default it can only if there are no ' + 'choices.',
  })
  freeText?: boolean;

  @Int(1, MAX_WAIT_SECONDS, {
    optional: true,
    description: 'The deadline in seconds from now. Send this or deadlineAt.',
  })
  deadlineSeconds?: number;

  @Timestamp({
    optional: true,
    description: 'The deadline, within 90 days. Send this or deadlineSeconds.',
  })
  deadlineAt?: string;

  @OneOf(ON_DEADLINE, {
    description:
      'The action if nobody answers in time: the default becomes the answer, or the task ' +
      'fails',
  })
  onDeadline!: OnDeadline;

  @Text({
    max: MAX_ANSWER,
    optional: true,
    description: 'The default answer. It is one of the choices if there are any.',
  })
  default?: string;

  @Flag({
    optional: true,
    description:
      'Whether the run stays live and receives the answer as a message. By default the run ends. ' +
      'Only runs of coding agents can wait, and onDeadline must be default.',
  })
  runWaits?: boolean;

  @JsonObject({
    optional: true,
    description: 'The state from which the next run resumes. Not with runWaits.',
  })
  checkpointData?: Record<string, unknown>;
}

export class AnswerQuestionDto {
  @Text({
    max: MAX_ANSWER,
    description: 'The answer: one of the choices, or any text if the question allows it',
  })
  answer!: string;
}

export class QuestionsQuery extends PageQuery {
  @OneOf(QUESTION_STATUSES, { optional: true }) status?: QuestionStatus;
  @Id('agent-tasks', { optional: true, description: 'Only questions of this task' })
  taskId?: string;
}

export class QuestionDto implements QuestionView {
  @ShownId() id!: string;
  @ShownId() taskId!: string;
  @ShownText() taskTitle!: string;
  @ShownId({ description: 'The run that asked the question' }) runId!: string;
  @ShownId() agentId!: string;
  @ShownText() prompt!: string;
  @ShownTexts({
    description: 'The answers to choose from. If there are none, any text is an answer.',
  })
  choices!: string[];
  @ShownFlag({ description: 'Whether an answer can be another text than a choice' })
  freeText!: boolean;
  @ShownOneOf(QUESTION_STATUSES, {
    description:
      'The status. `expired`: nobody answered in time. `cancelled`: the task ended before ' +
      'an answer.',
  })
  status!: QuestionStatus;
  @ShownTime() askedAt!: string;
  @ShownTime() deadlineAt!: string;
  @ShownOneOf(ON_DEADLINE, { description: 'The action if nobody answers in time' })
  onDeadline!: OnDeadline;
  @ShownTextOrNull() default!: string | null;
  @ShownTextOrNull({
    description: 'The answer with its secrets redacted. The run of the task receives it in full.',
  })
  answer!: string | null;
  @ShownTextOrNull({ example: 'user:0198c5a0-4444-7000-8000-000000000001' })
  answeredBy!: string | null;
  @ShownFlag({ description: 'Whether nobody answered and the default counts' }) byDefault!: boolean;
  @ShownTimeOrNull() closedAt!: string | null;
  @ShownFlag({ description: 'Whether the run is live and waits for the answer' })
  runWaits!: boolean;
}

export class CancelledQuestionsDto {
  @ShownInt({ description: '1 if the run waited for an answer, else 0' }) cancelled!: number;
}

export class QuestionPageDto {
  @ApiProperty({ type: [QuestionDto] }) items!: QuestionDto[];
  @ShownTextOrNull() nextCursor!: string | null;
}
