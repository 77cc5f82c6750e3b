import { ApiProperty } from '@nestjs/swagger';
import { Flag, Id, Int, JsonObject, OneOf, PageQuery, Text, TextList, Timestamp } from '#lib/http';
import {
  ShownFlag,
  ShownId,
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
import type { QuestionView } from '../question-view.js';

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
    description: 'Whether an answer may be another text; by default without choices only',
  })
  freeText?: boolean;

  @Int(1, MAX_WAIT_SECONDS, { optional: true, description: 'This, or deadlineAt' })
  deadlineSeconds?: number;

  @Timestamp({ optional: true, description: 'Within 90 days; this, or deadlineSeconds' })
  deadlineAt?: string;

  @OneOf(ON_DEADLINE, {
    description:
      'What happens if nobody answers in time: the default is the answer, or the task fails',
  })
  onDeadline!: OnDeadline;

  @Text({ max: MAX_ANSWER, optional: true, description: 'One of the choices, if there are any' })
  default?: string;

  @JsonObject({ optional: true, description: 'What the next run needs to go on from here' })
  checkpointData?: Record<string, unknown>;
}

export class AnswerQuestionDto {
  @Text({ max: MAX_ANSWER, description: 'One of the choices, or any text where it may be' })
  answer!: string;
}

export class QuestionsQuery extends PageQuery {
  @OneOf(QUESTION_STATUSES, { optional: true }) status?: QuestionStatus;
  @Id({ optional: true, description: 'Those of this task' }) taskId?: string;
}

export class QuestionDto implements QuestionView {
  @ShownId() id!: string;
  @ShownId() taskId!: string;
  @ShownText() taskTitle!: string;
  @ShownId({ description: 'The run that asked, and ended with it' }) runId!: string;
  @ShownId() agentId!: string;
  @ShownText() prompt!: string;
  @ShownTexts({ description: 'The answers to choose from; none: any text will do' })
  choices!: string[];
  @ShownFlag({ description: 'An answer may be another text than a choice' }) freeText!: boolean;
  @ShownOneOf(QUESTION_STATUSES, {
    description: 'expired: nobody answered in time; cancelled: its task was ended otherwise',
  })
  status!: QuestionStatus;
  @ShownTime() askedAt!: string;
  @ShownTime() deadlineAt!: string;
  @ShownOneOf(ON_DEADLINE, { description: 'What happens if nobody answers in time' })
  onDeadline!: OnDeadline;
  @ShownTextOrNull() default!: string | null;
  @ShownTextOrNull({ description: 'Secrets in it are hidden; its run gets it whole' })
  answer!: string | null;
  @ShownTextOrNull({ example: 'user:0198c5a0-4444-7000-8000-000000000001' })
  answeredBy!: string | null;
  @ShownFlag({ description: 'Nobody answered, and the default counts' }) byDefault!: boolean;
  @ShownTimeOrNull() closedAt!: string | null;
}

export class QuestionPageDto {
  @ApiProperty({ type: [QuestionDto] }) items!: QuestionDto[];
  @ShownTextOrNull() nextCursor!: string | null;
}
